"""MyISAM tables need a repair after every crash.

Why it matters
    With delay_key_write = ALL changed index blocks of all MyISAM tables stay in memory until the table is closed.
    After a crash the indexes do not match the rows and have to be rebuilt, table by table. With ON, the default, only
    tables are treated so that were created for it.

How it is computed
    From the setting: delay_key_write is ALL.

When to dismiss it
    The MyISAM tables are a cache that may be lost.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class KeyWrites(Settings):
    """Which MyISAM tables keep index changes in memory: OFF, ON (those that ask for it), ALL."""

    delay_key_write: str


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/server-system-variables.html",
        "https://mariadb.com/docs/server/server-usage/storage-engines/myisam-storage-engine/myisam-system-variables",
    ],
)


@rule.check
def check(writes: KeyWrites) -> Finding | Passed:
    if writes.delay_key_write.upper() != "ALL":
        return Passed(writes.measured())
    return Finding(
        (
            Item(
                message=Message("Index changes of all MyISAM tables stay in memory until the tables are closed"),
                evidence=writes.measured(),
                proposal=(SetVariable("delay_key_write", "ON"),),
                expected=Message("Indexes of MyISAM tables are as new on disk as their rows."),
                price=(Price(PriceKind.DISK_WRITES, Message("index blocks are written with each statement")),),
                would_change_our_mind=Message("MyISAM tables that may be lost."),
            ),
        )
    )


rule.fires("All tables", scene("mysql 8.0.33", {"delay_key_write": "ALL"}), proposes={"delay_key_write": "ON"})
rule.fires("MariaDB", scene("mariadb 10.11.18", {"delay_key_write": "ALL"}), proposes={"delay_key_write": "ON"})
rule.passes("The default: only tables that were created for it", scene("mysql 8.0.33"))
rule.passes("Never", scene("mariadb 10.11.18", {"delay_key_write": "OFF"}))
