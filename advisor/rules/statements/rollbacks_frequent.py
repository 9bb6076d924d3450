"""A good part of the transactions is rolled back.

Why it matters
    What is rolled back was done twice: the work, and undoing it, row by row. Where a fifth of all transactions ends so,
    the application meets errors that it did not plan for (duplicate keys, deadlocks, time-outs), or uses exceptions
    to find out what a query would tell.

How it is computed
    Com_rollback grew by 1 a second or more and makes 20 % or more of Com_commit + Com_rollback, and Handler_rollback
    grew by half as much at least: connection pools that send ROLLBACK for tidiness with nothing to roll back do
    not count.

When to dismiss it
    A framework that only reads and ends its read transactions with ROLLBACK: that costs a round trip each, no work.
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
class Rollbacks(Rates):
    """COMMIT and ROLLBACK statements, and engines that rolled something back, per second."""

    com_rollback: float
    com_commit: float
    handler_rollback: float


@dataclass(frozen=True)
class Parameters(Thresholds):
    """When it is too many."""

    rollbacks_per_second: float = threshold(1.0, unit=Unit.PER_SECOND, meaning="ROLLBACK statements", leave_at=0.8)
    rollback_ratio: float = threshold(
        0.2, unit=Unit.RATIO, meaning="share of transactions that end with ROLLBACK", leave_at=0.15
    )


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/commit.html",
        "https://mariadb.com/docs/server/ha-and-performance/optimization-and-tuning/system-variables/server-status-variables",
    ],
)


@rule.check
def check(rates: Rollbacks, p: Parameters) -> Finding | Passed:
    often = rates.com_rollback >= max(
        p.rollbacks_per_second, p.rollback_ratio * (rates.com_commit + rates.com_rollback)
    )
    if not often or rates.handler_rollback < 0.5 * rates.com_rollback:
        return Passed(rates.measured())
    return Finding(
        (
            Item(
                message=Message(
                    "{rate} transactions a second are rolled back, beside {commits} that are committed",
                    {
                        "rate": Quantity(rates.com_rollback, Unit.COUNT),
                        "commits": Quantity(rates.com_commit, Unit.COUNT),
                    },
                ),
                evidence=rates.measured(),
                proposal=(
                    Investigate(
                        "Find out which transactions end with ROLLBACK and why: the application's error log, duplicate "
                        "keys (INSERT ... ON DUPLICATE KEY), deadlocks, lock wait time-outs."
                    ),
                ),
                expected=Message("Work that is done is kept."),
                would_change_our_mind=Message("Read transactions that are ended with ROLLBACK on purpose."),
            ),
        )
    )


rule.fires(
    "A third is rolled back",
    scene("mysql 8.0.33", counters={"Com_rollback": 50, "Com_commit": 100, "Handler_rollback": 50}, deliberate=True),
)
rule.fires(
    "The same on MariaDB",
    scene("mariadb 10.11.18", counters={"Com_rollback": 4, "Com_commit": 10, "Handler_rollback": 4}, deliberate=True),
)
rule.passes(
    "A pool that sends ROLLBACK for tidiness",
    scene("mysql 8.0.33", counters={"Com_rollback": 90, "Com_commit": 100, "Handler_rollback": 1}, deliberate=True),
)
rule.passes(
    "One in fifty",
    scene("mariadb 10.11.18", counters={"Com_rollback": 4, "Com_commit": 196, "Handler_rollback": 4}, deliberate=True),
)
