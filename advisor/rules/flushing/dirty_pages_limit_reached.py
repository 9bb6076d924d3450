"""Dirty pages reach innodb_max_dirty_pages_pct.

Why it matters
    At that limit InnoDB flushes as fast as it may whatever the redo log has room for, and a buffer pool that is full of
    dirty pages makes readers and writers wait for a page to be written before they get one.

How it is computed
    The share of dirty pages (of data and free pages, as InnoDB compares it) is at 95 % of
    innodb_max_dirty_pages_pct in 5 % of the polls, and in two at least. A limit below this version's default is
    raised to it. On MariaDB 10.5 and later with innodb_max_dirty_pages_pct_lwm = 0 dirty pages drift up to the limit
    by design, since nothing is flushed before: where no more is flushed than innodb_io_capacity, that is a notice, and
    the low-water mark is set to half of the usual share of dirty pages, at least 1 and at most 20. Else flushing is too
    slow for the load: innodb_io_capacity is raised to 1.2 x the pages flushed; where it is that high already, a person
    has to look: the buffer pool may be too small for what is changed, or the device too slow. The redo log is seldom
    the cause.

When to dismiss it
    The window shows a bulk load that fills the pool faster than any device writes.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.facts.flushing import DirtyPageLimits, DirtyPages, Flushing, IoCapacity
from advisor.engine.io_sizing import IoThresholds, LowWaterThresholds, changes, low_water_percent, raised_capacity
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import threshold
from advisor.engine.units import GIB, MIB, Quantity, Unit
from advisor.mysql.proposal import Change, Investigate, SetVariable


@dataclass(frozen=True)
class Parameters(IoThresholds, LowWaterThresholds):
    """When the limit is reached."""

    near_maximum_ratio: float = threshold(
        0.95,
        unit=Unit.RATIO,
        meaning="dirty pages as a share of innodb_max_dirty_pages_pct from which a poll is at it",
        leave_at=0.9,
    )
    at_maximum_ratio: float = threshold(
        0.05, unit=Unit.RATIO, meaning="share of polls at the limit of dirty pages", leave_at=0.02
    )
    at_maximum_polls: float = threshold(2, unit=Unit.COUNT, meaning="how many such polls there are at least")


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.1",
    parameters=Parameters(),
    caused_by=[DirtyPages],
    raises=[
        "innodb_max_dirty_pages_pct",
        "innodb_max_dirty_pages_pct_lwm",
        "innodb_io_capacity",
        "innodb_io_capacity_max",
    ],
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-buffer-pool-flushing.html",
        "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-page-flushing",
    ],
)


@rule.check
def check(
    limits: DirtyPageLimits, dirty: DirtyPages, io: IoCapacity, flushing: Flushing, p: Parameters
) -> Finding | Passed:
    figures = limits.measured() + dirty.measured(p.near_maximum_ratio) + flushing.measured()
    at_maximum = dirty.polls_at_maximum(p.near_maximum_ratio)
    if at_maximum < p.at_maximum_ratio * len(dirty.percents) or at_maximum < p.at_maximum_polls:
        return Passed(figures)
    proposal: tuple[Change, ...]
    by_design = limits.age_is_unseen and flushing.p95 <= io.pages_per_second
    low_water = (SetVariable("innodb_max_dirty_pages_pct_lwm", low_water_percent(dirty, p)),)
    if limits.maximum_percent < limits.default_maximum_percent:
        proposal = (SetVariable("innodb_max_dirty_pages_pct", limits.default_maximum_percent),)
    elif by_design:
        proposal = low_water
    else:
        proposal = changes(io, *raised_capacity(io, flushing, p)) or (low_water if limits.age_is_unseen else ())
    return Finding(
        (
            Item(
                message=Message(
                    "{share} of the buffer pool are dirty, at the limit of {limit}",
                    {
                        "share": Quantity(dirty.p95_percent / 100, Unit.RATIO),
                        "limit": Quantity(limits.maximum_percent / 100, Unit.RATIO),
                    },
                ),
                evidence=figures,
                severity=Severity.NOTICE if by_design else None,
                proposal=proposal
                or (
                    Investigate(
                        "Flushing runs as fast as it was seen to need, and the pool stays full of dirty pages: "
                        "look at the latency of writes and at the size of the buffer pool."
                    ),
                ),
                price=(Price(PriceKind.READ_LATENCY, Message("reads share the device with more writes")),)
                if proposal
                else (),
                would_change_our_mind=Message("A device whose writes take longer than 10 ms at this rate."),
            ),
        )
    )


_FULL = {
    "Innodb_buffer_pool_pages_total": 8192,
    "Innodb_buffer_pool_pages_data": 8000,
    "Innodb_buffer_pool_pages_free": 100,
}
rule.fires(
    "All of the pool dirty, flushing at 900 pages a second",
    scene(
        "mysql 8.0.33",
        {"innodb_redo_log_capacity": 8 * GIB},
        redo_per_second=4 * MIB,
        gauges=_FULL | {"Innodb_buffer_pool_pages_dirty": 7200},
        counters={"Innodb_buffer_pool_pages_flushed": 900},
    ),
    proposes={"innodb_io_capacity": 1100, "innodb_io_capacity_max": 2200},
)
rule.fires(
    "A limit below the default is raised first",
    scene(
        "mariadb 10.11.18",
        {"innodb_max_dirty_pages_pct": "60.000000", "innodb_log_file_size": 8 * GIB},
        redo_per_second=4 * MIB,
        gauges=_FULL | {"Innodb_buffer_pool_pages_dirty": 4860},
        counters={"Innodb_buffer_pool_pages_flushed": 900},
    ),
    proposes={"innodb_max_dirty_pages_pct": 90.0},
)
rule.fires(
    "MariaDB 11.4 at the limit while it flushes 120 pages a second of 200: nothing told it to flush before",
    scene(
        "mariadb 11.4.5",
        {"innodb_log_file_size": 8 * GIB},
        redo_per_second=MIB,
        gauges=_FULL | {"Innodb_buffer_pool_pages_dirty": 7200},
        counters={"Innodb_buffer_pool_pages_flushed": 120},
    ),
    proposes={"innodb_max_dirty_pages_pct_lwm": 20.0},
)
rule.passes(
    "A third of the pool dirty",
    scene(
        "mysql 8.0.33",
        {"innodb_redo_log_capacity": 8 * GIB},
        redo_per_second=4 * MIB,
        gauges=_FULL | {"Innodb_buffer_pool_pages_dirty": 2700},
        counters={"Innodb_buffer_pool_pages_flushed": 900},
    ),
)
