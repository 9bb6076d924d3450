"""Index statistics are never renewed by themselves.

Why it matters
    With innodb_stats_auto_recalc = OFF a table that grew from a thousand rows to ten million keeps the statistics of
    its first day, and the optimizer chooses by them: full scans of what it believes to be small, until somebody runs
    ANALYZE TABLE.

How it is computed
    From settings alone: innodb_stats_auto_recalc is OFF while statistics are persistent (without persistent statistics
    it has no effect).

When to dismiss it
    ANALYZE TABLE runs by schedule, so that plans change at a known hour only.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class Recalculation(Settings):
    """Whether statistics are kept on disk, and renewed after a tenth of a table changed."""

    innodb_stats_auto_recalc: bool
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
def check(setting: Recalculation) -> Finding | Passed:
    if setting.innodb_stats_auto_recalc or not setting.innodb_stats_persistent:
        return Passed(setting.measured())
    return Finding(
        (
            Item(
                message=Message("Index statistics are renewed by nobody but ANALYZE TABLE"),
                evidence=setting.measured(),
                proposal=(SetVariable("innodb_stats_auto_recalc", True),),
                expected=Message("Statistics are renewed in the background after a tenth of a table changed."),
                price=(Price(PriceKind.OVERHEAD, Message("some hundred pages read for each table now and then")),),
                would_change_our_mind=Message("ANALYZE TABLE by schedule, so that plans change at a known hour only."),
            ),
        )
    )


rule.fires(
    "Set on MySQL",
    scene("mysql 8.0.33", {"innodb_stats_auto_recalc": "OFF"}),
    proposes={"innodb_stats_auto_recalc": True},
)
rule.fires(
    "Set on MariaDB",
    scene("mariadb 10.11.18", {"innodb_stats_auto_recalc": "OFF"}),
    proposes={"innodb_stats_auto_recalc": True},
)
rule.passes("The default", scene("mysql 8.0.33"))
rule.passes(
    "Without persistent statistics it has no effect",
    scene("mariadb 10.11.18", {"innodb_stats_auto_recalc": "OFF", "innodb_stats_persistent": "OFF"}),
)
