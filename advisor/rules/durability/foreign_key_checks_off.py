"""New connections do not check foreign keys.

Why it matters
    foreign_key_checks = OFF is for loading a dump in one session. Set globally, every new connection may delete
    parents and insert children that have none; switching it on again checks nothing of what was stored meanwhile.

How it is computed
    From the setting: the global foreign_key_checks is OFF.

When to dismiss it
    A load is running at this moment through connections that cannot set it for themselves.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.mysql.proposal import Investigate


@dataclass(frozen=True)
class ForeignKeys(Settings):
    """Whether new connections check foreign keys."""

    foreign_key_checks: bool


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/server-system-variables.html",
        "https://mariadb.com/docs/server/server-management/variables-and-modes/server-system-variables",
    ],
)


@rule.check
def check(keys: ForeignKeys) -> Finding | Passed:
    if keys.foreign_key_checks:
        return Passed(keys.measured())
    return Finding(
        (
            Item(
                message=Message("Foreign keys are not checked in new connections"),
                evidence=keys.measured(),
                proposal=(
                    Investigate(
                        "Run SET GLOBAL foreign_key_checks = ON, take the line out of the option file, and look for "
                        "children without parents with a LEFT JOIN for each foreign key: what was stored meanwhile "
                        "is never checked by itself."
                    ),
                ),
                expected=Message("Rows that refer to nothing are refused again."),
                price=(Price(PriceKind.OVERHEAD, Message("each change of a child or parent looks up the other")),),
                would_change_our_mind=Message("A load that is running now."),
            ),
        )
    )


rule.fires("Left off after an import", scene("mysql 8.0.33", {"foreign_key_checks": "OFF"}))
rule.fires("MariaDB", scene("mariadb 10.11.18", {"foreign_key_checks": "OFF"}))
rule.passes("The default", scene("mysql 8.0.33"))
rule.passes("The default of MariaDB", scene("mariadb 10.11.18"))
