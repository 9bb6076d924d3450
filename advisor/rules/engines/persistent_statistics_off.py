"""Index statistics are forgotten at every restart.

Why it matters
    With innodb_stats_persistent = OFF the optimizer's statistics live in memory: they are sampled anew from eight pages
    when a table is opened first, and after each sixteenth of it was changed. The same statement gets another plan after
    a restart, or on a replica, and nobody changed anything.

How it is computed
    From the setting alone: innodb_stats_persistent is OFF globally. Tables may still choose with STATS_PERSISTENT.

When to dismiss it
    Tables are created and dropped by the thousand, and writing their statistics each time was measured to cost more.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class Persistent(Settings):
    """Whether statistics are kept on disk."""

    innodb_stats_persistent: bool


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-persistent-stats.html",
        "https://mariadb.com/docs/server/ha-and-performance/optimization-and-tuning/query-optimizations/statistics-for-optimizing-queries/innodb-persistent-statistics",
    ],
)


@rule.check
def check(setting: Persistent) -> Finding | Passed:
    if setting.innodb_stats_persistent:
        return Passed(setting.measured())
    return Finding(
        (
            Item(
                message=Message(
                    "Index statistics are sampled anew after every restart (innodb_stats_persistent = OFF)"
                ),
                evidence=setting.measured(),
                proposal=(SetVariable("innodb_stats_persistent", True),),
                expected=Message(
                    "Plans stay the same over restarts, until ANALYZE TABLE or a tenth of a table changed."
                ),
                price=(Price(PriceKind.DISK_WRITES, Message("a few rows in mysql.innodb_index_stats for each table")),),
                would_change_our_mind=Message("Tables that are created and dropped by the thousand."),
            ),
        )
    )


rule.fires(
    "Set on MySQL",
    scene("mysql 8.0.33", {"innodb_stats_persistent": "OFF"}),
    proposes={"innodb_stats_persistent": True},
)
rule.fires(
    "Set on MariaDB",
    scene("mariadb 10.11.18", {"innodb_stats_persistent": "OFF"}),
    proposes={"innodb_stats_persistent": True},
)
rule.passes("The default", scene("mysql 8.0.33"))
rule.passes("The default on MariaDB", scene("mariadb 10.11.18"))
