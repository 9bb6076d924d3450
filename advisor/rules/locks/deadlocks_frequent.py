"""Transactions are ended by deadlocks all the time.

Why it matters
    InnoDB ends one of two transactions that wait for each other. Its work is undone and done again, if the
    application knows how; if it does not, a user sees an error. Now and then that is normal; many a minute tell of
    rows that are locked in different orders, or of locks on more rows than are changed.

How it is computed
    The innodb_metrics counter lock_deadlocks, which is on by default, rose by one a minute at least between full
    snapshots. Older versions (MySQL 5.7 and 8.0.12, MariaDB 10.2 and 10.5 as tried) count only those deadlocks
    whose victim was waiting already: there may be more.

When to dismiss it
    A queue that was built this way: its workers try again, and it keeps up.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.facts.locks import LockFailures
from advisor.engine.outcome import Finding, Item, Message, Passed, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import Investigate


@dataclass(frozen=True)
class Parameters(Thresholds):
    """How many are too many."""

    deadlocks_per_second: float = threshold(
        1 / 60, unit=Unit.PER_SECOND, meaning="transactions ended by a deadlock", leave_at=1 / 120
    )


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-deadlocks.html",
        "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-lock-modes",
    ],
)


@rule.check
def check(failures: LockFailures, p: Parameters) -> Finding | Passed:
    figures = failures.measured("lock_deadlocks")
    if failures.lock_deadlocks < p.deadlocks_per_second:
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message(
                    "{deadlocks} transactions a second are ended by a deadlock",
                    {"deadlocks": Quantity(failures.lock_deadlocks, Unit.COUNT)},
                ),
                evidence=figures,
                proposal=(
                    Investigate(
                        "Read the latest one in SHOW ENGINE INNODB STATUS: lock rows in one order, make "
                        "transactions shorter, give their conditions an index, and let applications try again."
                    ),
                ),
                would_change_our_mind=Message("Workers of a queue that try again."),
            ),
        )
    )


rule.fires(
    "Five a second",
    scene("mysql 8.0.33", counters={"lock_deadlocks": 5, "lock_timeouts": 0}, deliberate=True),
)

rule.fires(
    "Two a minute on MariaDB",
    scene("mariadb 10.11.18", counters={"lock_deadlocks": 0.034, "lock_timeouts": 0}, deliberate=True),
)

rule.passes(
    "None",
    scene("mysql 8.0.33", counters={"lock_deadlocks": 0, "lock_timeouts": 1}, deliberate=True),
)

rule.passes(
    "None on MariaDB",
    scene("mariadb 10.11.18", counters={"lock_deadlocks": 0, "lock_timeouts": 0}, deliberate=True),
)
