"""Adaptive flushing does not see the checkpoint age.

Why it matters
    MariaDB 10.5 and later compute how urgent the checkpoint age is, but use that only while the share of dirty pages is
    above innodb_max_dirty_pages_pct_lwm; at the default of 0 they never do. A server under write load then lets the age
    drift to the async point and flushes there in bursts of innodb_io_capacity_max. Measured on 10.11 and 11.8: the
    urgency stood at 1,273 %, and 70 pages a second were asked for.

How it is computed
    innodb_max_dirty_pages_pct_lwm is 0, at least 5 % of the time was spent above the async point (87.5 % of the
    limit), the redo log is not too small or cannot be enlarged, and adaptive flushing wrote less than a fifth of
    the pages where that is counted. Where more pages are flushed than innodb_io_capacity, that is raised to 1.2 x
    the 95th percentile of the pages flushed, since a round grows with it; else the low-water mark is set to half of
    the usual share of dirty pages, at least 1 and at most 20.

When to dismiss it
    Throughput is even and nobody waits: a high age alone is no fault on MariaDB.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.facts.flushing import DirtyPageLimits, DirtyPages, Flushing, IoCapacity
from advisor.engine.facts.redo import RedoLoad, RedoLog, RedoPressure
from advisor.engine.io_sizing import IoThresholds, LowWaterThresholds, changes, low_water_percent, raised_capacity
from advisor.engine.outcome import Finding, Item, Message, NotEvaluated, Passed, Price, PriceKind, Severity
from advisor.engine.redo_sizing import ENLARGE_FIRST, RedoThresholds, can_enlarge
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import threshold
from advisor.engine.units import GIB, HOUR, MIB, Quantity, Unit
from advisor.mysql.proposal import Change, SetVariable


@dataclass(frozen=True)
class Parameters(IoThresholds, LowWaterThresholds):
    """When flushing is steered by the async point alone."""

    above_async_ratio: float = threshold(
        0.05, unit=Unit.RATIO, meaning="share of time above the async point", leave_at=0.02
    )
    adaptive_ratio: float = threshold(
        0.20, unit=Unit.RATIO, meaning="share of pages by adaptive flushing, where counted", leave_at=0.30
    )


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mariadb>=10.5"],
    since="0.1",
    parameters=Parameters(),
    caused_by=[RedoPressure, Flushing],
    raises=["innodb_io_capacity", "innodb_io_capacity_max", "innodb_max_dirty_pages_pct_lwm"],
    references=["https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-page-flushing"],
)


@rule.check
def check(
    limits: DirtyPageLimits,
    dirty: DirtyPages,
    io: IoCapacity,
    flushing: Flushing,
    log: RedoLog,
    load: RedoLoad,
    pressure: RedoPressure,
    redo: RedoThresholds,
    p: Parameters,
) -> Finding | Passed | NotEvaluated:
    figures = limits.measured() + pressure.measured() + flushing.measured()
    if limits.low_water_percent > 0:
        return Passed(figures)
    if can_enlarge(log, load, pressure, redo):
        return NotEvaluated((ENLARGE_FIRST,))
    blind = flushing.adaptive_ratio is None or flushing.adaptive_ratio < p.adaptive_ratio
    if pressure.above_async_ratio < p.above_async_ratio or not blind:
        return Passed(figures)
    proposal: tuple[Change, ...] = (SetVariable("innodb_max_dirty_pages_pct_lwm", low_water_percent(dirty, p)),)
    if flushing.p95 > io.pages_per_second:
        proposal = changes(io, *raised_capacity(io, flushing, p)) or proposal
    return Finding(
        (
            Item(
                message=Message(
                    "The checkpoint age was above the async point for {share} of the time",
                    {"share": Quantity(pressure.above_async_ratio, Unit.RATIO)},
                ),
                evidence=figures,
                proposal=proposal,
                expected=Message("Flushing follows the age early and evenly instead of in bursts at the async point."),
                price=(
                    Price(PriceKind.DISK_WRITES, Message("pages are written earlier, so that there are more writes")),
                ),
                would_change_our_mind=Message(
                    "Transactions per second that do not dip while the age is above that point."
                ),
            ),
        )
    )


_DIRTY = {
    "Innodb_buffer_pool_pages_total": 8192,
    "Innodb_buffer_pool_pages_data": 8000,
    "Innodb_buffer_pool_pages_free": 100,
    "Innodb_buffer_pool_pages_dirty": 2430,
}
rule.fires(
    "MariaDB 11.8 between the async point and the maximum, flushing less than innodb_io_capacity",
    scene(
        "mariadb 11.8.6",
        {"innodb_log_file_size": 4 * GIB},
        redo_per_second=2 * MIB,
        pressure=[0.9, 0.93],
        gauges=_DIRTY,
        counters={"Innodb_buffer_pool_pages_flushed": 150},
    ),
    proposes={"innodb_max_dirty_pages_pct_lwm": 15.0},
)
rule.fires(
    "The same, flushing more than innodb_io_capacity",
    scene(
        "mariadb 10.5.23",
        {"innodb_log_file_size": 4 * GIB},
        redo_per_second=2 * MIB,
        pressure=[0.9, 0.93],
        gauges=_DIRTY,
        counters={"Innodb_buffer_pool_pages_flushed": 600},
    ),
    proposes={"innodb_io_capacity": 800, "innodb_io_capacity_max": 2400},
)
rule.passes(
    "Above the async point in one poll of twenty-five, once an hour was seen",
    scene(
        "mariadb 11.8.6",
        {"innodb_log_file_size": 4 * GIB},
        redo_per_second=2 * MIB,
        pressure=[0.9, *[0.5] * 24],
        seconds=HOUR,
        gauges=_DIRTY,
        counters={"Innodb_buffer_pool_pages_flushed": 150},
    ),
)
rule.passes(
    "An age that stays below the async point",
    scene(
        "mariadb 11.8.6",
        {"innodb_log_file_size": 4 * GIB},
        redo_per_second=2 * MIB,
        pressure=[0.5],
        gauges=_DIRTY,
        counters={"Innodb_buffer_pool_pages_flushed": 150},
    ),
)
