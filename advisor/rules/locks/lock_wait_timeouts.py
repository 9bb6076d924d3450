"""Waits for row locks run out of time.

Why it matters
    After innodb_lock_wait_timeout seconds a statement fails with error 1205. Somebody waited all that time for
    nothing, and somebody else held the row for longer. With innodb_rollback_on_timeout off, the default, only that
    statement is undone: an application that goes on and commits commits half of its work.

How it is computed
    The innodb_metrics counter lock_timeouts, which is on by default, rose by one a minute at least between full
    snapshots.

When to dismiss it
    Workers of a queue that wait with a short timeout on purpose and try again.
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

    timeouts_per_second: float = threshold(
        1 / 60, unit=Unit.PER_SECOND, meaning="waits for row locks that ran out of time", leave_at=1 / 120
    )


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-error-handling.html",
        "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-system-variables",
    ],
)


@rule.check
def check(failures: LockFailures, p: Parameters) -> Finding | Passed:
    figures = failures.measured("lock_timeouts")
    if failures.lock_timeouts < p.timeouts_per_second:
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message(
                    "{timeouts} waits a second for row locks run out of time",
                    {"timeouts": Quantity(failures.lock_timeouts, Unit.COUNT)},
                ),
                evidence=figures,
                proposal=(
                    Investigate(
                        "Find the transactions that hold rows for so long, and make sure that applications roll "
                        "back after error 1205 instead of going on."
                    ),
                ),
                would_change_our_mind=Message("Workers that wait with a short timeout on purpose."),
            ),
        )
    )


rule.fires(
    "Two a second",
    scene("mysql 8.0.33", counters={"lock_timeouts": 2, "lock_deadlocks": 0}, deliberate=True),
)

rule.fires(
    "Some on MariaDB",
    scene("mariadb 10.11.18", counters={"lock_timeouts": 0.1, "lock_deadlocks": 0}, deliberate=True),
)

rule.passes(
    "None",
    scene("mysql 8.0.33", counters={"lock_timeouts": 0, "lock_deadlocks": 2}, deliberate=True),
)

rule.passes(
    "None on MariaDB",
    scene("mariadb 10.11.18", counters={"lock_timeouts": 0, "lock_deadlocks": 0}, deliberate=True),
)
