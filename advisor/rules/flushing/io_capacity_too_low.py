"""innodb_io_capacity is too low for the writes.

Why it matters
    innodb_io_capacity bounds how many pages a second are written in the background. Where it is too low the
    checkpoint age rises until InnoDB flushes in bursts, and writers wait for them, although the device could have
    written all along.

How it is computed
    Only where the redo log itself is not too small, or cannot be enlarged (the rule about it comes first: a log
    that is turned over all the time makes the server write each page again and again, and no figure about flushing
    means anything then). F is the rate of pages flushed, as one-minute averages. MySQL and MariaDB up to 10.4: too
    low when F stays at 90 % of innodb_io_capacity_max in 5 % of the intervals while the age is above 70 % of its
    limit, or writers were seen at the limit while the median of F is above 85 % of innodb_io_capacity (an 8.0.33 that
    stood at its limit all the time wrote 89 of its 100 pages). MariaDB 10.5+, whose rounds grow with
    innodb_io_capacity alone: too low when writers were seen at the limit, or background flushing (above the async
    point) wrote more pages than adaptive flushing, while the 95th percentile of F is above 85 % of
    innodb_io_capacity. The proposal is 1.2 x F (MySQL: the median, and at least a quarter of the 95th percentile;
    MariaDB: the 95th percentile, since a round's steady state is innodb_io_capacity itself), and a maximum of two
    or more times that, by whole numbers on MySQL, which divides the two as integers: so many that the 95th
    percentile of F and of the intervals between polls stays below it. A single poll sizes nothing. Both are
    proposed together, neither ever below its present value, and neither raised beyond 20,000 pages/s (rotating
    disks: 200).

When to dismiss it
    The device cannot write more, or reads would suffer: what flushing takes, reads lose.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.facts.flushing import Flushing, IoCapacity
from advisor.engine.facts.redo import RedoLoad, RedoLog, RedoPressure
from advisor.engine.io_sizing import IoThresholds, changes, raised_capacity
from advisor.engine.outcome import Finding, Item, Message, NotEvaluated, Passed, Price, PriceKind, Severity
from advisor.engine.redo_sizing import ENLARGE_FIRST, RedoThresholds, can_enlarge
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import threshold
from advisor.engine.units import GIB, MIB, Quantity, Unit
from advisor.mysql.proposal import Investigate


@dataclass(frozen=True)
class Parameters(IoThresholds):
    """When flushing is bounded by its settings."""

    at_maximum_ratio: float = threshold(
        0.05, unit=Unit.RATIO, meaning="share of intervals flushing at the maximum", leave_at=0.02
    )
    at_maximum_intervals: float = threshold(2, unit=Unit.COUNT, meaning="how many such intervals there are at least")
    p95_ratio: float = threshold(
        0.70,
        unit=Unit.RATIO,
        meaning="95th percentile of age / limit from which flushing does not keep up",
        leave_at=0.60,
    )
    busy_ratio: float = threshold(
        0.85,
        unit=Unit.RATIO,
        meaning="F as a multiple of innodb_io_capacity from which the setting binds",
        leave_at=0.75,
    )


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.1",
    parameters=Parameters(),
    caused_by=[Flushing, RedoPressure],
    raises=["innodb_io_capacity", "innodb_io_capacity_max"],
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-configuring-io-capacity.html",
        "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-page-flushing",
    ],
)


@rule.check
def check(
    io: IoCapacity,
    flushing: Flushing,
    log: RedoLog,
    load: RedoLoad,
    pressure: RedoPressure,
    redo: RedoThresholds,
    p: Parameters,
) -> Finding | Passed | NotEvaluated:
    figures = io.measured() + flushing.measured() + pressure.measured()
    if can_enlarge(log, load, pressure, redo):
        return NotEvaluated((ENLARGE_FIRST,))
    if not _too_low(io, flushing, pressure, p):
        return Passed(figures)
    capacity, maximum = raised_capacity(io, flushing, p)
    proposal = changes(io, capacity, maximum)
    return Finding(
        (
            Item(
                message=Message(
                    "innodb_io_capacity = {present} is too low: {flushed} were flushed",
                    {
                        "present": Quantity(io.pages_per_second, Unit.COUNT),
                        "flushed": Quantity(flushing.p95, Unit.PAGES_PER_SECOND),
                    },
                ),
                evidence=figures,
                proposal=proposal
                or (
                    Investigate(
                        "Flushing runs as fast as this kind of device may be asked to, and does not keep up: look at "
                        "the latency of its writes, or state the storage where it is faster."
                    ),
                ),
                expected=Message("The checkpoint age stays below its limit without bursts of flushing.")
                if proposal
                else None,
                price=(
                    Price(
                        PriceKind.READ_LATENCY,
                        Message(
                            "reads share the device with up to {pages}",
                            {"pages": Quantity(maximum, Unit.PAGES_PER_SECOND)},
                        ),
                        Quantity(io.maximum_pages_per_second, Unit.PAGES_PER_SECOND),
                        Quantity(maximum, Unit.PAGES_PER_SECOND),
                    ),
                )
                if proposal
                else (),
                would_change_our_mind=Message("A device whose writes take longer than 10 ms at this rate."),
            ),
        )
    )


def _too_low(io: IoCapacity, flushing: Flushing, pressure: RedoPressure, p: Parameters) -> bool:
    if io.enters_linearly:
        behind = pressure.stalls_proven or (flushing.background_ratio or 0.0) > (flushing.adaptive_ratio or 0.0)
        return behind and flushing.p95 > p.busy_ratio * io.pages_per_second
    at_maximum = (
        flushing.at_maximum_ratio >= p.at_maximum_ratio and flushing.at_maximum_intervals >= p.at_maximum_intervals
    )
    return (at_maximum and pressure.p95 >= p.p95_ratio) or (
        pressure.stalls_proven and flushing.median > p.busy_ratio * io.pages_per_second
    )


rule.fires(
    "MySQL 8.0.33 flushing at its maximum of 2,000 while the age is high",
    scene(
        "mysql 8.0.33",
        {"innodb_redo_log_capacity": 8 * GIB},
        redo_per_second=2 * MIB,
        pressure=[0.8, 0.85],
        counters={"Innodb_buffer_pool_pages_flushed": 1950},
    ),
    proposes={"innodb_io_capacity": 2400, "innodb_io_capacity_max": 4800},
)
rule.fires(
    "MariaDB 10.11 at the limit with a log that is big enough: 1.2 x the pages flushed",
    scene(
        "mariadb 10.11.18",
        {"innodb_log_file_size": 8 * GIB},
        redo_per_second=MIB,
        pressure=[1.0],
        counters={"Innodb_buffer_pool_pages_flushed": 1500},
    ),
    proposes={"innodb_io_capacity": 1800, "innodb_io_capacity_max": 3600},
)
rule.passes(
    "MySQL 8.0.33 flushing 300 pages a second with an age in the middle",
    scene(
        "mysql 8.0.33",
        {"innodb_redo_log_capacity": 4 * GIB},
        redo_per_second=2 * MIB,
        pressure=[0.4, 0.45],
        counters={"Innodb_buffer_pool_pages_flushed": 300},
    ),
)
