"""Inserts into MyISAM tables wait for every reader.

Why it matters
    A MyISAM table without holes takes new rows at its end while others read it. concurrent_insert = NEVER forbids that:
    each INSERT locks the whole table, waits for all readers, and makes all later ones wait.

How it is computed
    From the setting alone: concurrent_insert is NEVER. AUTO is every version's default.

When to dismiss it
    There are no MyISAM tables: then it changes nothing either way.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class ConcurrentInsert(Settings):
    """Whether MyISAM takes rows while others read."""

    concurrent_insert: str


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/concurrent-inserts.html",
        "https://mariadb.com/docs/server/server-usage/storage-engines/myisam-storage-engine/concurrent-inserts",
    ],
)


@rule.check
def check(setting: ConcurrentInsert) -> Finding | Passed:
    if setting.concurrent_insert.upper() not in ("NEVER", "0", "OFF"):
        return Passed(setting.measured())
    return Finding(
        (
            Item(
                message=Message("Inserts into MyISAM tables wait for every reader (concurrent_insert = NEVER)"),
                evidence=setting.measured(),
                proposal=(SetVariable("concurrent_insert", "AUTO"),),
                expected=Message("Rows are added at the end of a MyISAM table while others read it."),
                price=(Price(PriceKind.OVERHEAD, Message("nothing that was ever measured")),),
                would_change_our_mind=Message("An application that relies on seeing every row at once."),
            ),
        )
    )


rule.fires(
    "Set on MySQL",
    scene("mysql 8.0.33", {"concurrent_insert": "NEVER"}),
    proposes={"concurrent_insert": "AUTO"},
)
rule.fires(
    "Set on MariaDB",
    scene("mariadb 10.11.18", {"concurrent_insert": "NEVER"}),
    proposes={"concurrent_insert": "AUTO"},
)
rule.passes("The default", scene("mysql 8.0.33"))
rule.passes("Even with holes", scene("mariadb 10.11.18", {"concurrent_insert": "ALWAYS"}))
