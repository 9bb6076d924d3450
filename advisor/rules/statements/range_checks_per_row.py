"""Joins choose an index anew for each row.

Why it matters
    Where the optimizer finds no index that is good for the whole join, it may look for one again for each row of the
    first table (EXPLAIN says "Range checked for each record"). Each time it dives into the candidate indexes to
    estimate; it is a little better than no index at all, and far from a join by an index.

How it is computed
    Select_range_check grew by 1 a second or more between full snapshots.

When to dismiss it
    The first table has a handful of rows, so that the search is repeated a handful of times.
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
class RangeChecks(Rates):
    """Joins that choose an index for each row, per second."""

    select_range_check: float


@dataclass(frozen=True)
class Parameters(Thresholds):
    """When such joins matter."""

    joins_per_second: float = threshold(
        1.0, unit=Unit.PER_SECOND, meaning="joins that choose an index for each row", leave_at=0.8
    )


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/explain-output.html",
        "https://mariadb.com/docs/server/ha-and-performance/optimization-and-tuning/system-variables/server-status-variables",
    ],
)


@rule.check
def check(checks: RangeChecks, p: Parameters) -> Finding | Passed:
    if checks.select_range_check < p.joins_per_second:
        return Passed(checks.measured())
    return Finding(
        (
            Item(
                message=Message(
                    "{rate} joins a second choose an index for each row",
                    {"rate": Quantity(checks.select_range_check, Unit.COUNT)},
                ),
                evidence=checks.measured(),
                proposal=(
                    Investigate(
                        "Find the statements by their digests (SUM_SELECT_RANGE_CHECK), and write their condition so "
                        "that one index serves it: the same type on both sides, no comparison of two ranges by <."
                    ),
                ),
                expected=Message("One index is chosen when the statement is planned."),
                would_change_our_mind=Message("A first table of a handful of rows."),
            ),
        )
    )


rule.fires(
    "Joins by a range of the other table",
    scene("mysql 8.0.33", counters={"Select_range_check": 4}, deliberate=True),
)
rule.fires("The same on MariaDB", scene("mariadb 10.11.18", counters={"Select_range_check": 4}, deliberate=True))
rule.passes("None", scene("mysql 8.0.33", counters={"Select_range_check": 0}, deliberate=True))
rule.passes("Hardly any", scene("mariadb 10.11.18", counters={"Select_range_check": 0.2}, deliberate=True))
