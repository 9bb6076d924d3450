"""Deadlocks are not detected, and waits last long.

Why it matters
    With innodb_deadlock_detect off, two transactions that wait for each other wait until innodb_lock_wait_timeout
    ends one of them. That is made for servers on which very many sessions lock the same row, and asks for a timeout
    of a second or two. With the usual 50 seconds each deadlock holds up everybody behind it for that time.

How it is computed
    innodb_deadlock_detect is OFF and innodb_lock_wait_timeout is above ten seconds. The proposal is to detect them
    again.

When to dismiss it
    Detection was measured to be the bottleneck: then shorten innodb_lock_wait_timeout instead.
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
class Detection(Settings):
    """Whether deadlocks are detected, and after how many seconds a wait fails."""

    innodb_deadlock_detect: bool
    innodb_lock_wait_timeout: int


@dataclass(frozen=True)
class Parameters(Thresholds):
    """How long a wait may last without detection."""

    longest_seconds: float = threshold(10, unit=Unit.SECONDS, meaning="timeout up to which no detection is needed")


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-parameters.html",
        "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-system-variables",
    ],
)


@rule.check
def check(detection: Detection, p: Parameters) -> Finding | Passed:
    if detection.innodb_deadlock_detect or detection.innodb_lock_wait_timeout <= p.longest_seconds:
        return Passed(detection.measured())
    return Finding(
        (
            Item(
                message=Message(
                    "Deadlocks are not detected: each of them lasts {time}",
                    {"time": Quantity(detection.innodb_lock_wait_timeout, Unit.SECONDS)},
                ),
                evidence=detection.measured(),
                proposal=(SetVariable("innodb_deadlock_detect", True),),
                expected=Message("Of two transactions that wait for each other one fails at once."),
                price=(
                    Price(
                        PriceKind.OVERHEAD, Message("each wait looks for a circle, which takes time under many waits")
                    ),
                ),
                would_change_our_mind=Message("A measurement in which detection was the bottleneck."),
            ),
        )
    )


rule.fires(
    "Off with the usual timeout",
    scene("mysql 8.0.33", {"innodb_deadlock_detect": "OFF", "innodb_lock_wait_timeout": 50}),
    proposes={"innodb_deadlock_detect": True},
)
rule.fires(
    "The same on MariaDB",
    scene("mariadb 10.11.18", {"innodb_deadlock_detect": "OFF", "innodb_lock_wait_timeout": 50}),
    proposes={"innodb_deadlock_detect": True},
)
rule.passes(
    "Off on purpose, with a short timeout",
    scene("mysql 8.0.33", {"innodb_deadlock_detect": "OFF", "innodb_lock_wait_timeout": 2}),
)
rule.passes("On", scene("mariadb 10.11.18", {"innodb_deadlock_detect": "ON"}))
