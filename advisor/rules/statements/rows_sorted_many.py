"""Very many rows are sorted for each result.

Why it matters
    ORDER BY ... LIMIT without an index in that order reads and sorts everything to return a page of it: the tenth
    million of a table costs what the first ten rows cost with an index. Sorting in memory shows nowhere else.

How it is computed
    Sort_rows grew by 100,000 a second or more, with 1,000 rows or more for each sort (Sort_range + Sort_scan).

When to dismiss it
    The sorted rows are what is asked for: exports and reports.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Rates
from advisor.engine.outcome import Finding, Item, Message, Passed, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import Investigate


@dataclass(frozen=True)
class SortedRows(Rates):
    """Sorted rows and sorts per second."""

    sort_rows: float
    sort_range: float
    sort_scan: float


@dataclass(frozen=True)
class Parameters(Thresholds):
    """When sorting is too much."""

    rows_per_second: float = threshold(100_000.0, unit=Unit.PER_SECOND, meaning="rows sorted", leave_at=80_000.0)
    rows_per_sort: float = threshold(1000.0, unit=Unit.COUNT, meaning="rows in each sort", leave_at=800.0)


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/order-by-optimization.html",
        "https://mariadb.com/docs/server/ha-and-performance/optimization-and-tuning/system-variables/server-status-variables",
    ],
)


@rule.check
def check(sorts: SortedRows, p: Parameters) -> Finding | Passed:
    large = sorts.sort_rows >= p.rows_per_sort * (sorts.sort_range + sorts.sort_scan)
    if sorts.sort_rows < p.rows_per_second or not large:
        return Passed(sorts.measured())
    return Finding(
        (
            Item(
                message=Message("{rows} rows a second are sorted", {"rows": Quantity(sorts.sort_rows, Unit.COUNT)}),
                evidence=sorts.measured(),
                proposal=(
                    Investigate(
                        "Find the statements by their digests (SUM_SORT_ROWS against SUM_ROWS_SENT): an index on what "
                        "they filter and order by lets ORDER BY ... LIMIT stop after its page."
                    ),
                ),
                expected=Message("A page of a result costs a page of reading."),
                would_change_our_mind=Message("Exports that need all rows in order."),
            ),
        )
    )


rule.fires(
    "A list that sorts its whole table for each page",
    scene("mysql 8.0.33", counters={"Sort_rows": 900_000, "Sort_range": 0, "Sort_scan": 30}, deliberate=True),
)
rule.fires(
    "The same on MariaDB",
    scene("mariadb 10.11.18", counters={"Sort_rows": 200_000, "Sort_range": 20, "Sort_scan": 30}, deliberate=True),
)
rule.passes(
    "Many sorts of a few rows",
    scene("mysql 8.0.33", counters={"Sort_rows": 120_000, "Sort_range": 4000, "Sort_scan": 30}, deliberate=True),
)
rule.passes(
    "A few rows",
    scene("mariadb 10.11.18", counters={"Sort_rows": 2_000, "Sort_range": 1, "Sort_scan": 0}, deliberate=True),
)
