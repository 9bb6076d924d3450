"""An idle server hardly writes its dirty pages.

Why it matters
    While nothing happens InnoDB uses the time to write dirty pages, innodb_io_capacity of them in a second.
    innodb_idle_flush_pct takes a share of that. With a low one a server goes into the next busy hour with the age that
    the last one left, and a crash at night still has all of it to recover.

How it is computed
    From the setting: below 20 (percent; the default is 100). It is set back to 100. MariaDB had it up to 10.4.

When to dismiss it
    It was lowered to spare flash memory writes, and the server is idle only for seconds at a time.
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
class IdleFlushing(Settings):
    """The share of innodb_io_capacity that an idle server uses, in percent."""

    innodb_idle_flush_pct: int


@dataclass(frozen=True)
class Parameters(Thresholds):
    """How slow is too slow."""

    lowest_percent: float = threshold(20, unit=Unit.COUNT, meaning="innodb_idle_flush_pct, in percent, at least")


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=8.0.18", "mariadb>=10.2,<10.5"],
    since="0.2",
    parameters=Parameters(),
    raises=["innodb_idle_flush_pct"],
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-buffer-pool-flushing.html",
        "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-system-variables",
    ],
)


@rule.check
def check(idle: IdleFlushing, _log: OwnRedoLog, p: Parameters) -> Finding | Passed:
    if idle.innodb_idle_flush_pct >= p.lowest_percent:
        return Passed(idle.measured())
    return Finding(
        (
            Item(
                message=Message(
                    "An idle server flushes with {share} of innodb_io_capacity",
                    {"share": Quantity(idle.innodb_idle_flush_pct / 100, Unit.RATIO)},
                ),
                evidence=idle.measured(),
                proposal=(SetVariable("innodb_idle_flush_pct", 100),),
                expected=Message("The age falls while nothing happens, and recovery after a crash then is short."),
                price=(
                    Price(PriceKind.DISK_WRITES, Message("pages that would have changed once more are written before")),
                ),
                would_change_our_mind=Message("A device whose writes are dear, and a recovery time that is accepted."),
            ),
        )
    )


rule.fires(
    "5 % on MySQL 8.0.33", scene("mysql 8.0.33", {"innodb_idle_flush_pct": 5}), proposes={"innodb_idle_flush_pct": 100}
)
rule.fires(
    "Nothing at all on MariaDB 10.2",
    scene("mariadb 10.2.11", {"innodb_idle_flush_pct": 0}),
    proposes={"innodb_idle_flush_pct": 100},
)
rule.passes("A fifth", scene("mysql 9.7.4", {"innodb_idle_flush_pct": 20}))
rule.passes("The default of MariaDB 10.2", scene("mariadb 10.2.11", {"innodb_idle_flush_pct": 100}))
