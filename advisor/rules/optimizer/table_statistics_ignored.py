"""Statistics that ANALYZE TABLE gathers are never used.

Why it matters
    With use_stat_tables = NEVER MariaDB plans without histograms and without its own statistics, even where ANALYZE
    TABLE ... PERSISTENT has made them: conditions on columns without an index count as if they let everything through.
    It was the default until 10.4, and option files carry it on.

How it is computed
    use_stat_tables is NEVER on a version whose default is PREFERABLY_FOR_QUERIES.

When to dismiss it
    Plans were frozen on purpose, or the statistics are known to be stale and nobody gathers them anew.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class TableStatistics(Settings):
    """Whether statistics in mysql.table_stats and its sisters are used."""

    use_stat_tables: str


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mariadb>=10.4"],
    since="0.2",
    references=[
        "https://mariadb.com/docs/server/ha-and-performance/optimization-and-tuning/query-optimizations/statistics-for-optimizing-queries/engine-independent-table-statistics",
    ],
)


@rule.check
def check(planning: TableStatistics) -> Finding | Passed:
    if not (planning.use_stat_tables.upper() == "NEVER"):
        return Passed(planning.measured())
    return Finding(
        (
            Item(
                message=Message("Statistics that ANALYZE TABLE gathers are never used"),
                evidence=planning.measured(),
                proposal=(SetVariable("use_stat_tables", "PREFERABLY_FOR_QUERIES"),),
                expected=Message("Plans know how many rows a condition lets through."),
                price=(
                    Price(
                        PriceKind.READ_LATENCY,
                        Message("plans change where such statistics were gathered: look at the important ones first"),
                    ),
                ),
                would_change_our_mind=Message("Plans that were frozen on purpose."),
            ),
        )
    )


rule.fires(
    "Carried over from 10.3",
    scene("mariadb 10.11.18", {"use_stat_tables": "NEVER"}),
    proposes={"use_stat_tables": "PREFERABLY_FOR_QUERIES"},
)
rule.fires(
    "The same on 11.8",
    scene("mariadb 11.8.6", {"use_stat_tables": "NEVER"}),
    proposes={"use_stat_tables": "PREFERABLY_FOR_QUERIES"},
)
rule.passes("The default", scene("mariadb 10.11.18"))
rule.passes("The default of 11.8", scene("mariadb 11.8.6"))
