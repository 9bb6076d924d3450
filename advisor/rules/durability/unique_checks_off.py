"""New connections may store duplicates in unique indexes.

Why it matters
    With unique_checks = OFF InnoDB is allowed to buffer changes of unique secondary indexes without looking whether
    the value is there already. It is for loading data that are known to be unique. Set globally, duplicates get in,
    and a unique index that holds duplicates is a damaged one.

How it is computed
    From the setting: the global unique_checks is OFF.

When to dismiss it
    A load of data that are known to be unique is running at this moment.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.mysql.proposal import Investigate


@dataclass(frozen=True)
class UniqueKeys(Settings):
    """Whether new connections check unique secondary indexes."""

    unique_checks: bool


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
def check(keys: UniqueKeys) -> Finding | Passed:
    if keys.unique_checks:
        return Passed(keys.measured())
    return Finding(
        (
            Item(
                message=Message("Unique indexes are not checked in new connections"),
                evidence=keys.measured(),
                proposal=(
                    Investigate(
                        "Run SET GLOBAL unique_checks = ON, take the line out of the option file, and run CHECK "
                        "TABLE on the tables that were written meanwhile."
                    ),
                ),
                expected=Message("Duplicates are refused again."),
                price=(
                    Price(PriceKind.DISK_WRITES, Message("pages of unique indexes are read before they are changed")),
                ),
                would_change_our_mind=Message("A load that is running now."),
            ),
        )
    )


rule.fires("Left off after an import", scene("mysql 8.0.33", {"unique_checks": "OFF"}))
rule.fires("MariaDB", scene("mariadb 10.11.18", {"unique_checks": "OFF"}))
rule.passes("The default", scene("mysql 8.0.33"))
rule.passes("The default of MariaDB", scene("mariadb 10.11.18"))
