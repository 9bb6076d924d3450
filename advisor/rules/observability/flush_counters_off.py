"""The redo log is nearly full, and nothing tells who flushes.

Why it matters
    When the checkpoint age comes close to its limit it matters which of InnoDB's ways of writing pages does the work:
    the adaptive one ahead of time, the one in the background, or the one that makes everybody wait. The counters
    buffer_flush_..._total_pages tell; they are off by default, and cost next to nothing.

How it is computed
    The 95th percentile of checkpoint age / limit was 0.85 or more while the server wrote, and one of the
    counters buffer_flush_adaptive_total_pages, buffer_flush_background_total_pages, buffer_flush_sync_total_pages or
    buffer_flush_sync_waits is off. A server with room in its log hears nothing.

When to dismiss it
    The redo log is about to be enlarged: then look again afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

from advisor.engine import reading
from advisor.engine.fact import Fact
from advisor.engine.facts.redo import OwnRedoLog, RedoPressure
from advisor.engine.observation import Observation
from advisor.engine.outcome import Finding, Item, Measured, Message, Missing, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import MIB, Quantity, Unit
from advisor.mysql.proposal import SetMetricCounters
from advisor.mysql.snapshot import Metric

#: The counters that tell the regime, by their exact names.
FLUSH_COUNTERS = (
    "buffer_flush_adaptive_total_pages",
    "buffer_flush_background_total_pages",
    "buffer_flush_sync_total_pages",
    "buffer_flush_sync_waits",
)


@dataclass(frozen=True)
class FlushCounters(Fact):
    """Which of these counters there are, and which of them are off."""

    reads: ClassVar[tuple[str, ...]] = ("INFORMATION_SCHEMA.INNODB_METRICS",)

    known: tuple[str, ...]
    off: tuple[str, ...]

    @classmethod
    def read(cls, seen: Observation) -> Self:
        metrics = seen.snapshot.metrics
        if not metrics:
            raise Missing(reading.grant(seen, "PROCESS", "innodb_metrics"))
        known = tuple(name for name in FLUSH_COUNTERS if name in metrics)
        return cls(
            known=known,
            off=tuple(name for name in known if not metrics[name].enabled and name not in seen.proposed_metrics),
        )


@dataclass(frozen=True)
class Parameters(Thresholds):
    """When the log is nearly full."""

    pressure: float = threshold(
        0.85, unit=Unit.RATIO, meaning="checkpoint age against its limit, 95th percentile", leave_at=0.75
    )


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-information-schema-metrics-table.html",
        "https://mariadb.com/docs/server/reference/system-tables/information-schema/information-schema-tables/information-schema-innodb-tables/information-schema-innodb_metrics-table",
    ],
)


@rule.check
def check(counters: FlushCounters, pressure: RedoPressure, _log: OwnRedoLog, p: Parameters) -> Finding | Passed:
    figures = (
        Measured("counters about flushing", len(counters.known), Unit.COUNT, None, "INNODB_METRICS"),
        Measured("of them switched off", len(counters.off), Unit.COUNT, None, "INNODB_METRICS"),
        *pressure.measured(),
    )
    if not counters.off or pressure.p95 < p.pressure:
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message(
                    "The redo log is nearly full, and {off} counters that tell who flushes are off",
                    {"off": Quantity(len(counters.off), Unit.COUNT)},
                ),
                evidence=figures,
                proposal=(SetMetricCounters(enable=counters.off),),
                expected=Message("It can be seen whether flushing keeps up ahead of time or makes everybody wait."),
                price=(Price(PriceKind.OVERHEAD, Message("below {share}", {"share": Quantity(0.003, Unit.RATIO)})),),
                would_change_our_mind=Message("A redo log that is about to be enlarged."),
            ),
        )
    )


_OFF = {name: Metric("buffer", False, 0) for name in FLUSH_COUNTERS}
_ON = {name: Metric("buffer", True, 0) for name in FLUSH_COUNTERS}
rule.fires(
    "At the limit, and nothing tells",
    scene("mysql 8.0.33", redo_per_second=2 * MIB, pressure=[0.97, 1.0], metrics=_OFF, deliberate=True),
)
rule.fires(
    "The same on MariaDB",
    scene("mariadb 10.11.18", redo_per_second=2 * MIB, pressure=[0.97, 1.0], metrics=_OFF, deliberate=True),
)
rule.passes(
    "At the limit, with the counters on",
    scene("mysql 8.0.33", redo_per_second=2 * MIB, pressure=[0.97, 1.0], metrics=_ON, deliberate=True),
)
rule.passes(
    "Off, with room in the log",
    scene("mariadb 10.11.18", redo_per_second=2 * MIB, pressure=[0.3, 0.4], metrics=_OFF, deliberate=True),
)
