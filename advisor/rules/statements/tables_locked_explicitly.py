"""LOCK TABLES is used all the time.

Why it matters
    LOCK TABLES makes every other session wait for the whole table, whatever rows it wants, and commits what the session
    had open. It is what MyISAM needed; with InnoDB a transaction with SELECT ... FOR UPDATE locks the rows it is about.

How it is computed
    Com_lock_tables grew by 0.5 a second or more between full snapshots.

When to dismiss it
    A dump is running (mysqldump without --single-transaction locks each schema once), or the tables are not InnoDB's.
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
    """LOCK TABLES and UNLOCK TABLES statements per second."""

    com_lock_tables: float
    com_unlock_tables: float


@dataclass(frozen=True)
class Parameters(Thresholds):
    """When it is a habit."""

    locks_per_second: float = threshold(0.5, unit=Unit.PER_SECOND, meaning="LOCK TABLES statements", leave_at=0.4)


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/lock-tables.html",
        "https://mariadb.com/docs/server/reference/sql-statements/transactions/lock-tables",
    ],
)


@rule.check
def check(rates: TableLocks, p: Parameters) -> Finding | Passed:
    if rates.com_lock_tables < p.locks_per_second:
        return Passed(rates.measured())
    return Finding(
        (
            Item(
                message=Message(
                    "Whole tables are locked {rate} times a second",
                    {"rate": Quantity(rates.com_lock_tables, Unit.COUNT)},
                ),
                evidence=rates.measured(),
                proposal=(
                    Investigate(
                        "Put a transaction in place of LOCK TABLES, and SELECT ... FOR UPDATE on the rows it is about; "
                        "for a name that only one may hold, GET_LOCK."
                    ),
                ),
                expected=Message("Sessions wait for rows, no longer for tables."),
                would_change_our_mind=Message("A dump that is running, or tables that are not InnoDB's."),
            ),
        )
    )


rule.fires(
    "An application from before InnoDB",
    scene("mysql 8.0.33", counters={"Com_lock_tables": 12, "Com_unlock_tables": 12}, deliberate=True),
)
rule.fires(
    "The same on MariaDB",
    scene("mariadb 10.11.18", counters={"Com_lock_tables": 2, "Com_unlock_tables": 2}, deliberate=True),
)
rule.passes("None", scene("mysql 8.0.33", counters={"Com_lock_tables": 0, "Com_unlock_tables": 0}, deliberate=True))
rule.passes(
    "A dump",
    scene("mariadb 10.11.18", counters={"Com_lock_tables": 0.1, "Com_unlock_tables": 0.1}, deliberate=True),
)
