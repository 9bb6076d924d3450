"""Adaptive flushing begins only when the redo log is nearly full.

Why it matters
    innodb_adaptive_flushing_lwm is the share of the redo log from which on adaptive flushing works at all. InnoDB turns
    to flushing as fast as it may at about 70 % of the log (70 to 78 %, by version). A low-water mark of 50
    leaves it a fifth of the log to react in, one of 70 nothing: what should be even becomes bursts.

How it is computed
    From the setting: above 40 % (default 10, at most 70). It is set back to the default of 10.

When to dismiss it
    The log is so big that 40 % of it hold hours of writes, and pages should collect as many changes as possible.
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
class LowWaterMark(Settings):
    """From which share of the redo log on flushing adapts, in percent."""

    innodb_adaptive_flushing_lwm: float
    innodb_adaptive_flushing: bool = True


@dataclass(frozen=True)
class Parameters(Thresholds):
    """How late is late."""

    low_water_percent: float = threshold(
        40, unit=Unit.COUNT, meaning="innodb_adaptive_flushing_lwm, in percent, at most"
    )
    proposed_percent: float = threshold(10, unit=Unit.COUNT, meaning="the proposal, in percent: the default")


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-buffer-pool-flushing.html",
        "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-page-flushing",
    ],
)


@rule.check
def check(mark: LowWaterMark, _log: OwnRedoLog, p: Parameters) -> Finding | Passed:
    present = mark.innodb_adaptive_flushing_lwm
    if present <= p.low_water_percent:
        return Passed(mark.measured())
    return Finding(
        (
            Item(
                message=Message(
                    "Adaptive flushing waits until {share} of the redo log are filled",
                    {"share": Quantity(present / 100, Unit.RATIO)},
                ),
                evidence=mark.measured(),
                proposal=(SetVariable("innodb_adaptive_flushing_lwm", int(p.proposed_percent)),),
                expected=Message("Flushing rises with the age, and no longer sets in at full speed."),
                price=(Price(PriceKind.DISK_WRITES, Message("pages are written earlier, some of them once more")),),
                would_change_our_mind=Message("An age that stays below 40 % of the log in the busiest hour."),
            ),
        )
    )


rule.fires(
    "A low-water mark of 60 % on MySQL 8.0",
    scene("mysql 8.0.33", {"innodb_adaptive_flushing_lwm": 60}),
    proposes={"innodb_adaptive_flushing_lwm": 10},
)
rule.fires(
    "The highest there is, on MariaDB 10.11, where it is a real",
    scene("mariadb 10.11.18", {"innodb_adaptive_flushing_lwm": "70.000000"}),
    proposes={"innodb_adaptive_flushing_lwm": 10},
)
rule.passes("40 % is early enough", scene("mysql 5.7.22", {"innodb_adaptive_flushing_lwm": 40}))
rule.passes("The default of MariaDB 11.4", scene("mariadb 11.4.5"))
