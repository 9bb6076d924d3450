"""Flushing steers by averages over minutes.

Why it matters
    innodb_flushing_avg_loops says over how many seconds the rates of redo and of flushed pages are averaged, by which
    adaptive flushing decides how much to write next. With a long average a load that doubles is answered minutes later,
    when the age may have reached its limit already.

How it is computed
    From the setting: above 120 (seconds; the default is 30 in every version). It is set back to the default.

When to dismiss it
    The redo log holds hours of the busiest writes, so that minutes do not count.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.facts.redo import OwnRedoLog
from advisor.engine.outcome import (
    Finding,
    Item,
    Message,
    Passed,
    Price,
    PriceKind,
    Severity,
)
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class Averaging(Settings):
    """Over how many seconds flushing averages its rates."""

    innodb_flushing_avg_loops: int


@dataclass(frozen=True)
class Parameters(Thresholds):
    """How long is too long."""

    longest_seconds: float = threshold(120, unit=Unit.SECONDS, meaning="innodb_flushing_avg_loops at most")
    proposed_seconds: float = threshold(30, unit=Unit.SECONDS, meaning="the proposal: every version's default")


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-buffer-pool-flushing.html",
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-parameters.html",
        "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-system-variables",
    ],
)


@rule.check
def check(averaging: Averaging, _log: OwnRedoLog, p: Parameters) -> Finding | Passed:
    if averaging.innodb_flushing_avg_loops <= p.longest_seconds:
        return Passed(averaging.measured())
    return Finding(
        (
            Item(
                message=Message(
                    "Adaptive flushing looks back {time} before it follows a change of the load",
                    {"time": Quantity(averaging.innodb_flushing_avg_loops, Unit.SECONDS)},
                ),
                evidence=averaging.measured(),
                proposal=(SetVariable("innodb_flushing_avg_loops", int(p.proposed_seconds)),),
                expected=Message("A load that rises is followed within half a minute."),
                price=(
                    Price(PriceKind.WRITE_LATENCY, Message("the rate of flushing changes more often, with the load")),
                ),
                would_change_our_mind=Message("An age that moves slowly whatever the load does."),
            ),
        )
    )


rule.fires(
    "Ten minutes on MySQL 8.0",
    scene("mysql 8.0.33", {"innodb_flushing_avg_loops": 600}),
    proposes={"innodb_flushing_avg_loops": 30},
)
rule.fires(
    "1,000 seconds on MariaDB 10.5",
    scene("mariadb 10.5.23", {"innodb_flushing_avg_loops": 1000}),
    proposes={"innodb_flushing_avg_loops": 30},
)
rule.passes("Two minutes", scene("mysql 9.7.4", {"innodb_flushing_avg_loops": 120}))
rule.passes("The default of MariaDB 11.8", scene("mariadb 11.8.6", {"innodb_flushing_avg_loops": 30}))
