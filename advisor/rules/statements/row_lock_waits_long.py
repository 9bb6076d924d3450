"""Sessions wait for each other's row locks.

Why it matters
    Who wants a row that another transaction has changed waits until that one commits. Half a session that always waits
    means that at any moment someone stands still, and pages take as long as the slowest transaction.

How it is computed
    Innodb_row_lock_time grew by 500 ms a second or more between full snapshots: on average half a session was waiting
    all the time. Innodb_row_lock_waits of the same time tells how often.

When to dismiss it
    One maintenance job holds rows that nobody else needs at that hour.
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
class RowLocks(Rates):
    """Waits for row locks, and milliseconds waited, per second."""

    innodb_row_lock_waits: float
    innodb_row_lock_time: float


@dataclass(frozen=True)
class Parameters(Thresholds):
    """When waiting is too much."""

    waiting_sessions: float = threshold(
        0.5, unit=Unit.COUNT, meaning="sessions that wait for row locks, on average", leave_at=0.4
    )


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-locking-transaction-model.html",
        "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-lock-modes",
    ],
)


@rule.check
def check(rates: RowLocks, p: Parameters) -> Finding | Passed:
    waiting = rates.innodb_row_lock_time / 1000
    if waiting < p.waiting_sessions:
        return Passed(rates.measured())
    return Finding(
        (
            Item(
                message=Message(
                    "On average {sessions} sessions wait for row locks",
                    {"sessions": Quantity(round(waiting, 1), Unit.COUNT)},
                ),
                evidence=rates.measured(),
                proposal=(
                    Investigate(
                        "Find who blocks whom (sys.innodb_lock_waits, SHOW ENGINE INNODB STATUS): commit right after "
                        "the last change, do not wait for anything outside within a transaction, change hot rows last, "
                        "and index what UPDATE and DELETE search by."
                    ),
                ),
                expected=Message("Transactions hold the rows they change for milliseconds."),
                would_change_our_mind=Message("One job at an hour when nobody else needs its rows."),
            ),
        )
    )


rule.fires(
    "Three sessions always wait",
    scene("mysql 8.0.33", counters={"Innodb_row_lock_waits": 40, "Innodb_row_lock_time": 3000}, deliberate=True),
)
rule.fires(
    "The same on MariaDB",
    scene("mariadb 10.11.18", counters={"Innodb_row_lock_waits": 2, "Innodb_row_lock_time": 900}, deliberate=True),
)
rule.passes(
    "Many short waits",
    scene("mysql 8.0.33", counters={"Innodb_row_lock_waits": 100, "Innodb_row_lock_time": 90}, deliberate=True),
)
rule.passes(
    "None", scene("mariadb 10.11.18", counters={"Innodb_row_lock_waits": 0, "Innodb_row_lock_time": 0}, deliberate=True)
)
