"""Sessions wait for locks on whole tables.

Why it matters
    MyISAM, MEMORY and Aria tables are locked as a whole: one writer makes everybody wait, and a reader that takes a
    minute makes the writer behind it, and everybody behind that writer, wait for the minute. InnoDB locks rows.

How it is computed
    Table_locks_waited grew by 1 a second or more, and makes 1 % or more of all table locks (Table_locks_immediate +
    Table_locks_waited) between full snapshots.

When to dismiss it
    A job uses LOCK TABLES for the moment, and will come to its end.
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
class TableLocks(Rates):
    """Table locks that were had at once, and those that had to be waited for, per second."""

    table_locks_immediate: float
    table_locks_waited: float


@dataclass(frozen=True)
class Parameters(Thresholds):
    """When waiting is too much."""

    waits_per_second: float = threshold(1.0, unit=Unit.PER_SECOND, meaning="waits for table locks", leave_at=0.8)
    waits_ratio: float = threshold(0.01, unit=Unit.RATIO, meaning="share of table locks that waited", leave_at=0.008)


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/table-locking.html",
        "https://mariadb.com/docs/server/ha-and-performance/optimization-and-tuning/system-variables/server-status-variables",
    ],
)


@rule.check
def check(locks: TableLocks, p: Parameters) -> Finding | Passed:
    in_all = locks.table_locks_immediate + locks.table_locks_waited
    if locks.table_locks_waited < max(p.waits_per_second, p.waits_ratio * in_all):
        return Passed(locks.measured())
    return Finding(
        (
            Item(
                message=Message(
                    "Sessions wait for locks on whole tables {rate} times a second",
                    {"rate": Quantity(locks.table_locks_waited, Unit.PER_SECOND)},
                ),
                evidence=locks.measured(),
                proposal=(
                    Investigate(
                        "Find the tables that are not InnoDB's and are both read and written (an inspection lists "
                        "them), and move them to InnoDB one by one; take LOCK TABLES out where it is used."
                    ),
                ),
                expected=Message("Sessions wait for rows, if at all."),
                would_change_our_mind=Message("A job with LOCK TABLES that will end."),
            ),
        )
    )


rule.fires(
    "A MyISAM table that is read and written",
    scene("mysql 8.0.33", counters={"Table_locks_immediate": 900, "Table_locks_waited": 60}, deliberate=True),
)
rule.fires(
    "The same on MariaDB",
    scene("mariadb 10.11.18", counters={"Table_locks_immediate": 90, "Table_locks_waited": 2}, deliberate=True),
)
rule.passes(
    "One in ten thousand",
    scene("mysql 8.0.33", counters={"Table_locks_immediate": 20_000, "Table_locks_waited": 2}, deliberate=True),
)
rule.passes(
    "None",
    scene("mariadb 10.11.18", counters={"Table_locks_immediate": 900, "Table_locks_waited": 0}, deliberate=True),
)
