"""Joins read whole tables for want of an index.

Why it matters
    A join whose second table has no usable index reads that table as a whole, for each row or each block of rows of the
    first. It is fast on the developer's machine and gets slower with the product of both tables. A larger
    join_buffer_size, the usual advice, hides it for a month and takes the memory in every session.

How it is computed
    Select_full_join grew by 1 a second or more between full snapshots, and on average 100 rows or more were read in
    order (Handler_read_rnd_next) for each of these joins: joins with tables of a few rows need no index.

When to dismiss it
    The joins are those of a report over small tables, or MySQL 8 hashes a whole table on purpose.
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
class Joins(Rates):
    """Joins without an index on the joined table, and rows read in table order, per second."""

    select_full_join: float
    handler_read_rnd_next: float


@dataclass(frozen=True)
class Parameters(Thresholds):
    """When such joins matter."""

    joins_per_second: float = threshold(1.0, unit=Unit.PER_SECOND, meaning="joins without an index", leave_at=0.8)
    rows_per_join: float = threshold(
        100.0, unit=Unit.COUNT, meaning="rows read in table order for each such join", leave_at=80.0
    )


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/server-status-variables.html",
        "https://mariadb.com/docs/server/ha-and-performance/optimization-and-tuning/system-variables/server-status-variables",
    ],
)


@rule.check
def check(joins: Joins, p: Parameters) -> Finding | Passed:
    enough = joins.handler_read_rnd_next >= p.rows_per_join * joins.select_full_join
    if joins.select_full_join < p.joins_per_second or not enough:
        return Passed(joins.measured())
    return Finding(
        (
            Item(
                message=Message(
                    "{rate} joins a second read a whole table for want of an index",
                    {"rate": Quantity(joins.select_full_join, Unit.COUNT)},
                ),
                evidence=joins.measured(),
                proposal=(
                    Investigate(
                        "Find the statements by their digests (SUM_SELECT_FULL_JOIN) and index the columns that the "
                        "joined tables are joined by, of the same type and collation on both sides. Leave "
                        "join_buffer_size as it is."
                    ),
                ),
                expected=Message("The joined rows are looked up instead of being searched for."),
                would_change_our_mind=Message("Reports over tables that stay small."),
            ),
        )
    )


rule.fires(
    "A page that joins without an index",
    scene("mysql 8.0.33", counters={"Select_full_join": 20, "Handler_read_rnd_next": 400_000}, deliberate=True),
)
rule.fires(
    "The same on MariaDB",
    scene("mariadb 10.11.18", counters={"Select_full_join": 2, "Handler_read_rnd_next": 9_000}, deliberate=True),
)
rule.passes(
    "Joins with tables of ten rows",
    scene("mysql 8.0.33", counters={"Select_full_join": 20, "Handler_read_rnd_next": 200}, deliberate=True),
)
rule.passes(
    "Scans, but hardly a join",
    scene("mariadb 10.11.18", counters={"Select_full_join": 0.1, "Handler_read_rnd_next": 9_000}, deliberate=True),
)
