"""Deadlocks happen, and only the last one can be looked at.

Why it matters
    SHOW ENGINE INNODB STATUS shows the latest deadlock only, and forgets it at a restart. With
    innodb_print_all_deadlocks each of them is written to the error log with both statements, so that it can be
    found out a day later why the night's job failed.

How it is computed
    innodb_print_all_deadlocks is OFF, and the innodb_metrics counter lock_deadlocks rose by one in ten minutes at
    least between full snapshots. Servers without deadlocks are not told to switch it on.

When to dismiss it
    Deadlocks are so many that the log would grow without end, and their reason is known.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.facts.locks import LockFailures
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class DeadlockLog(Settings):
    """Whether all deadlocks are written to the error log."""

    innodb_print_all_deadlocks: bool


@dataclass(frozen=True)
class Parameters(Thresholds):
    """When it is worth it."""

    deadlocks_per_second: float = threshold(
        1 / 600, unit=Unit.PER_SECOND, meaning="transactions ended by a deadlock", leave_at=1 / 1200
    )


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-deadlocks.html",
        "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-system-variables",
    ],
)


@rule.check
def check(log: DeadlockLog, failures: LockFailures, p: Parameters) -> Finding | Passed:
    figures = log.measured() + failures.measured("lock_deadlocks")
    if log.innodb_print_all_deadlocks or failures.lock_deadlocks < p.deadlocks_per_second:
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message(
                    "{deadlocks} deadlocks a second, of which only the last can be read",
                    {"deadlocks": Quantity(failures.lock_deadlocks, Unit.COUNT)},
                ),
                evidence=figures,
                proposal=(SetVariable("innodb_print_all_deadlocks", True),),
                expected=Message("The error log tells of each deadlock which statements met."),
                price=(
                    Price(
                        PriceKind.DISK,
                        Message("some KiB of error log for each deadlock, with values of the rows that were locked"),
                    ),
                ),
                would_change_our_mind=Message("Deadlocks whose reason is known already."),
            ),
        )
    )


rule.fires(
    "One a minute",
    scene(
        "mysql 8.0.33",
        {"innodb_print_all_deadlocks": "OFF"},
        counters={"lock_deadlocks": 0.02, "lock_timeouts": 0},
        deliberate=True,
    ),
    proposes={"innodb_print_all_deadlocks": True},
)

rule.fires(
    "Many on MariaDB",
    scene(
        "mariadb 10.11.18",
        {"innodb_print_all_deadlocks": "OFF"},
        counters={"lock_deadlocks": 2, "lock_timeouts": 0},
        deliberate=True,
    ),
    proposes={"innodb_print_all_deadlocks": True},
)

rule.passes(
    "They are logged",
    scene(
        "mysql 8.0.33",
        {"innodb_print_all_deadlocks": "ON"},
        counters={"lock_deadlocks": 2, "lock_timeouts": 0},
        deliberate=True,
    ),
)

rule.passes(
    "There are none",
    scene(
        "mariadb 10.11.18",
        {"innodb_print_all_deadlocks": "OFF"},
        counters={"lock_deadlocks": 0, "lock_timeouts": 0},
        deliberate=True,
    ),
)
