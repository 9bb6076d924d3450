"""Settings of this server have no effect in this version.

Why it matters
    The server reads them and does nothing with them: whoever set them believes that something is limited, divided or
    switched on which is not. They are left over from an older version, or were copied from advice for another one.

How it is computed
    Every variable that is set here (option file, command line, persisted, or changed at run time) and that the
    catalogue knows to be ignored by this very version, whatever its value.

When to dismiss it
    The lines are kept on purpose, for servers of several versions that share an option file.
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
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-parameters.html",
        "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-system-variables",
    ],
)


@rule.check
def check(settings: SettingsHere) -> Finding | Passed:
    figures = (Measured("settings without effect", len(settings.ignored), Unit.COUNT, None, "catalogue"),)
    if not settings.ignored:
        return Passed(figures)
    told = named([f"{name} (now {new})" if new else name for name, new in sorted(settings.ignored.items())])
    return Finding(
        (
            Item(
                message=Message(
                    "{count} settings are ignored by this version: {names}",
                    {
                        "count": Quantity(len(settings.ignored), Unit.COUNT),
                        "names": Quantity(told, Unit.TEXT),
                    },
                ),
                evidence=figures,
                proposal=(Investigate(f"Take these out of the option file, or set their successors: {told}."),),
                expected=Message("The option file says what the server does."),
            ),
        )
    )


rule.fires(
    "MariaDB 10.5 with page cleaners, of which it has one",
    scene(
        "mariadb 10.5.23",
        {"innodb_page_cleaners": 8},
        origins={"innodb_page_cleaners": "option_file"},
    ),
)
rule.passes(
    "MariaDB 10.5 with what it still reads",
    scene("mariadb 10.5.23", {"innodb_io_capacity": 800}, origins={"innodb_io_capacity": "option_file"}),
)
