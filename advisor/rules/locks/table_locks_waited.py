"""Statements wait for whole tables.

Why it matters
    MyISAM, MEMORY and Aria tables are locked as a whole by each statement that changes them: all readers wait for
    one writer, and a long report holds up every writer behind it.

How it is computed
    Table_locks_waited rose by one a second at least between full snapshots, and by more than 1 % of all table
    locks. InnoDB's row locks are not among them.

When to dismiss it
    A table that only one nightly job writes to.
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
    """Table locks that were waited for, and those had at once, per second."""

    table_locks_waited: float
    table_locks_immediate: float


@dataclass(frozen=True)
class Parameters(Thresholds):
    """When too many wait."""

    waits_per_second: float = threshold(1, unit=Unit.PER_SECOND, meaning="table locks waited for", leave_at=0.8)
    waited_ratio: float = threshold(
        0.01, unit=Unit.RATIO, meaning="share of the table locks that were waited for", leave_at=0.008
    )


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/table-locking.html",
        "https://mariadb.com/docs/server/server-management/variables-and-modes/server-status-variables",
    ],
)


@rule.check
def check(locks: TableLocks, p: Parameters) -> Finding | Passed:
    figures = locks.measured()
    if locks.table_locks_waited < p.waits_per_second or locks.table_locks_waited <= p.waited_ratio * (
        locks.table_locks_waited + locks.table_locks_immediate
    ):
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message(
                    "{waits} statements a second wait for a whole table",
                    {"waits": Quantity(locks.table_locks_waited, Unit.COUNT)},
                ),
                evidence=figures,
                proposal=(
                    Investigate(
                        "Move the busiest MyISAM, MEMORY or Aria tables to InnoDB: ALTER TABLE ... ENGINE=InnoDB."
                    ),
                ),
                would_change_our_mind=Message("A table that only one job writes to."),
            ),
        )
    )


rule.fires(
    "A MyISAM table that everybody writes to",
    scene("mysql 5.7.22", counters={"Table_locks_waited": 8, "Table_locks_immediate": 60}, deliberate=True),
)

rule.fires(
    "The same on MariaDB",
    scene("mariadb 10.11.18", counters={"Table_locks_waited": 3, "Table_locks_immediate": 10}, deliberate=True),
)

rule.passes(
    "All had at once",
    scene("mysql 5.7.22", counters={"Table_locks_waited": 0, "Table_locks_immediate": 900}, deliberate=True),
)

rule.passes(
    "A few of very many on MariaDB",
    scene("mariadb 10.11.18", counters={"Table_locks_waited": 2, "Table_locks_immediate": 9000}, deliberate=True),
)
