"""Writers of MyISAM tables give way to every reader.

Why it matters
    With low_priority_updates = ON each INSERT, UPDATE and DELETE on a table that locks as a whole waits until nobody
    reads it. On a busy table that is never: writes pile up behind readers, and with them the sessions. InnoDB tables do
    not care.

How it is computed
    From the setting alone: low_priority_updates is ON globally. A statement that may wait can say LOW_PRIORITY.

When to dismiss it
    Readers of MyISAM tables come first here, and writers may wait as long as it takes.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class LowPriority(Settings):
    """Whether writers give way."""

    low_priority_updates: bool


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/table-locking.html",
        "https://mariadb.com/docs/server/server-management/variables-and-modes/server-system-variables",
    ],
)


@rule.check
def check(setting: LowPriority) -> Finding | Passed:
    if not setting.low_priority_updates:
        return Passed(setting.measured())
    return Finding(
        (
            Item(
                message=Message("Writers of MyISAM tables give way to every reader (low_priority_updates = ON)"),
                evidence=setting.measured(),
                proposal=(SetVariable("low_priority_updates", False),),
                expected=Message("Writers get their turn."),
                price=(Price(PriceKind.READ_LATENCY, Message("readers of MyISAM tables wait for writers, too")),),
                would_change_our_mind=Message("Readers that come first here, whatever it takes."),
            ),
        )
    )


rule.fires(
    "Set on MySQL",
    scene("mysql 8.0.33", {"low_priority_updates": "ON"}),
    proposes={"low_priority_updates": False},
)
rule.fires(
    "Set on MariaDB",
    scene("mariadb 10.11.18", {"low_priority_updates": "ON"}),
    proposes={"low_priority_updates": False},
)
rule.passes("The default", scene("mysql 8.0.33"))
rule.passes("The default on MariaDB", scene("mariadb 10.11.18"))
