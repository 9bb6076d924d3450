"""Waits for row locks last for ten minutes and more.

Why it matters
    A statement that waits for a row keeps its connection and everything that its transaction has locked. With a
    long timeout one forgotten transaction collects every session that touches its rows, until no connection is
    left.

How it is computed
    innodb_lock_wait_timeout is ten minutes or more as a global value. The default of 50 seconds is proposed; a
    batch job that wants to wait longer says so in its own session.

When to dismiss it
    Nothing but batch jobs runs here, and they are meant to wait for each other.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class LockTimeout(Settings):
    """After how many seconds a wait for a row lock fails."""

    innodb_lock_wait_timeout: int


@dataclass(frozen=True)
class Parameters(Thresholds):
    """How long is too long."""

    longest_seconds: float = threshold(600, unit=Unit.SECONDS, meaning="timeout from which on it is too long")


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-parameters.html",
        "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-system-variables",
    ],
)


@rule.check
def check(timeout: LockTimeout, p: Parameters) -> Finding | Passed:
    if timeout.innodb_lock_wait_timeout < p.longest_seconds:
        return Passed(timeout.measured())
    return Finding(
        (
            Item(
                message=Message(
                    "A statement may wait {time} for a row lock",
                    {"time": Quantity(timeout.innodb_lock_wait_timeout, Unit.SECONDS)},
                ),
                evidence=timeout.measured(),
                proposal=(SetVariable("innodb_lock_wait_timeout", 50),),
                expected=Message("Sessions fail before they take all connections."),
                price=(
                    Price(
                        PriceKind.OVERHEAD,
                        Message("jobs that wait longer fail with error 1205, unless their session asks for more"),
                        Quantity(timeout.innodb_lock_wait_timeout, Unit.SECONDS),
                        Quantity(50, Unit.SECONDS),
                    ),
                ),
                would_change_our_mind=Message("Batch jobs only, which are meant to wait."),
            ),
        )
    )


rule.fires(
    "An hour",
    scene("mysql 8.0.33", {"innodb_lock_wait_timeout": 3600}),
    proposes={"innodb_lock_wait_timeout": 50},
)
rule.fires(
    "A day on MariaDB",
    scene("mariadb 10.11.18", {"innodb_lock_wait_timeout": 86_400}),
    proposes={"innodb_lock_wait_timeout": 50},
)
rule.passes("Two minutes", scene("mysql 8.0.33", {"innodb_lock_wait_timeout": 120}))
rule.passes("The default", scene("mariadb 10.11.18", {"innodb_lock_wait_timeout": 50}))
