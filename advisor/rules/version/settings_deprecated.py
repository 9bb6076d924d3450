"""Settings of this server are deprecated.

Why it matters
    They still work and will be gone: each of them is a line that somebody has to find and replace on the day of an
    upgrade, among many others. Replacing them one by one while nothing presses is cheaper.

How it is computed
    Every variable that is set here (option file, command line, persisted, or changed at run time) and that the manual
    of this version calls deprecated. MySQL tells the same origin for both names of a renamed variable, so that the old
    name may be listed though only the new one is written anywhere.

When to dismiss it
    This server is replaced by another one and never upgraded itself.
"""

from __future__ import annotations

from advisor.engine.facts.upgrade import SettingsHere, named
from advisor.engine.outcome import Finding, Item, Measured, Message, Passed, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import Investigate

rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/added-deprecated-removed.html",
        "https://mariadb.com/docs/server/server-management/install-and-upgrade-mariadb/upgrading",
    ],
)


@rule.check
def check(settings: SettingsHere) -> Finding | Passed:
    figures = (Measured("deprecated settings", len(settings.deprecated), Unit.COUNT, None, "manual of this version"),)
    if not settings.deprecated:
        return Passed(figures)
    told = named([f"{name} (now {new})" if new else name for name, new in sorted(settings.deprecated.items())])
    return Finding(
        (
            Item(
                message=Message(
                    "{count} settings are deprecated in this version: {names}",
                    {
                        "count": Quantity(len(settings.deprecated), Unit.COUNT),
                        "names": Quantity(told, Unit.TEXT),
                    },
                ),
                evidence=figures,
                proposal=(Investigate(f"Replace these before the next upgrade: {told}."),),
            ),
        )
    )


rule.fires(
    "MySQL 8.0 with days of binary logs instead of seconds",
    scene("mysql 8.0.33", {"expire_logs_days": 7}, origins={"expire_logs_days": "option_file"}),
)
rule.passes("MySQL 8.0 with nothing set", scene("mysql 8.0.33", origins={"expire_logs_days": "compiled"}))
