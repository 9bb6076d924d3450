"""innodb_io_capacity_max is far above what the load needs.

Why it matters
    With a high maximum every rise of the checkpoint age is answered by a burst that writes as many pages as it may:
    pages leave dirty after a few changes, only to be changed and written again, and reads wait meanwhile. On a
    server with eight cores 8,000/16,000 was slower than 4,000/8,000 under the same load (MariaDB 10.6, experiment
    E4).

How it is computed
    From at least 24 hours with these settings, by the hour, so that the busiest ones are among them, and only where
    the device is known to suffer: its writes take more than 10 ms under load. No server tells that (performance_schema
    times only the hand-over of asynchronous writes), so that a person has to state it; where all else is so, the rule
    is not evaluated until then. It fires when the 95th percentile of age / limit stays below 10 %, each page flushed
    carries less than 1,000 bytes of redo (so that pages are written before they collected changes), and the maximum is
    more than 1.5 times what the busiest hour needs. Needed are 1.2 x the pages flushed, as in the rule for values that
    are too low, but never less than 2,000. The maximum is lowered to that, and innodb_io_capacity with it where it
    would be above half of it.

When to dismiss it
    The setting is meant for recovery after bursts that this day does not show.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.facts.flushing import STATE_LATENCY, FlushingHistory, IoCapacity, WriteLatency
from advisor.engine.io_sizing import IoThresholds, changes, wanted_capacity
from advisor.engine.outcome import Finding, Item, Message, NotEvaluated, Passed, Price, PriceKind, Severity, unused
from advisor.engine.rule import Rule
from advisor.engine.scene import hours, scene, stated
from advisor.engine.thresholds import threshold
from advisor.engine.units import GIB, HOUR, Quantity, Unit, round_up
from advisor.mysql.digest import HourlyDigest


@dataclass(frozen=True)
class Parameters(IoThresholds):
    """When the maximum is too high."""

    p95_ratio: float = threshold(
        0.10, unit=Unit.RATIO, meaning="95th percentile of age / limit below which flushing is far ahead", leave_at=0.13
    )
    redo_per_page_bytes: float = threshold(
        1000,
        unit=Unit.BYTES,
        meaning="redo for each page flushed below which pages are written too early",
        leave_at=1300,
    )
    beyond_need_ratio: float = threshold(
        1.5, unit=Unit.RATIO, meaning="the maximum as a multiple of what is needed", leave_at=1.3
    )
    latency_seconds: float = threshold(
        0.010, unit=Unit.SECONDS, meaning="write latency of the device above which bursts do harm", leave_at=0.008
    )
    smallest_maximum: float = threshold(
        2000, unit=Unit.PAGES_PER_SECOND, meaning="no maximum up to this is called too high"
    )


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.1",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-configuring-io-capacity.html",
        "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-page-flushing",
    ],
)


@rule.check
def check(
    io: IoCapacity, flushing: FlushingHistory, latency: WriteLatency, p: Parameters
) -> Finding | Passed | NotEvaluated:
    figures = io.measured() + flushing.measured() + latency.measured()
    _, needed = wanted_capacity(io, flushing, p)
    maximum = max(needed, int(p.smallest_maximum))
    if (
        flushing.p95_pressure >= p.p95_ratio
        or flushing.redo_per_page_bytes >= p.redo_per_page_bytes
        or io.maximum_pages_per_second <= p.beyond_need_ratio * maximum
    ):
        return Passed(figures)
    if latency.seconds is None:
        return NotEvaluated((STATE_LATENCY,))
    if latency.seconds <= p.latency_seconds:
        return Passed(figures)
    capacity = min(io.pages_per_second, maximum // 2)
    return Finding(
        (
            Item(
                message=Message(
                    "innodb_io_capacity_max = {present} is far above the {flushed} that were flushed",
                    {
                        "present": Quantity(io.maximum_pages_per_second, Unit.COUNT),
                        "flushed": Quantity(flushing.p95, Unit.PAGES_PER_SECOND),
                    },
                ),
                evidence=unused(figures),
                proposal=changes(io, capacity, round_up(maximum, capacity)),
                expected=Message("Pages collect more changes before they are written; fewer writes for the same work."),
                price=(
                    Price(
                        PriceKind.WRITE_LATENCY,
                        Message("a burst beyond what was seen takes longer to flush"),
                        Quantity(io.maximum_pages_per_second, Unit.PAGES_PER_SECOND),
                        Quantity(maximum, Unit.PAGES_PER_SECOND),
                    ),
                ),
                would_change_our_mind=Message(
                    "Intervals that flush more than {pages}.", {"pages": Quantity(maximum, Unit.PAGES_PER_SECOND)}
                ),
            ),
        )
    )


def _day(flushed: float, pressure: float = 0.05) -> tuple[HourlyDigest, ...]:
    """A day of bulk load: about 600 bytes of redo a page, as where pages are written again and again."""
    return hours(
        26,
        redo_per_hour=int(300 * flushed * HOUR),
        pressure=pressure,
        capacity_bytes=4 * GIB,
        pages_flushed_p95=flushed,
    )


_SLOW, _FAST = stated(write_latency_microseconds=14_000), stated(write_latency_microseconds=700)
rule.fires(
    "Experiment E4: 8,000/16,000 where 3,300 pages a second are flushed in the busiest hour",
    scene(
        "mariadb 10.11.18",
        {"innodb_io_capacity": 8000, "innodb_io_capacity_max": 16000, "innodb_log_file_size": 4 * GIB},
        digests=_day(3300),
        host=_SLOW,
    ),
    proposes={"innodb_io_capacity": 4000, "innodb_io_capacity_max": 8000},
)
rule.fires(
    "MySQL 9.7 with its default of 10,000/20,000 on a volume whose writes take 14 ms",
    scene("mysql 9.7.4", {"innodb_redo_log_capacity": 4 * GIB}, digests=_day(150), host=_SLOW),
    proposes={"innodb_io_capacity": 1000, "innodb_io_capacity_max": 2000},
)
rule.passes(
    "The same on a volume whose writes take 0.7 ms",
    scene("mysql 9.7.4", {"innodb_redo_log_capacity": 4 * GIB}, digests=_day(150), host=_FAST),
)
rule.passes(
    "4,000/8,000 for the load of experiment E4",
    scene(
        "mariadb 10.11.18",
        {"innodb_io_capacity": 4000, "innodb_io_capacity_max": 8000, "innodb_log_file_size": 4 * GIB},
        digests=_day(3300),
        host=_SLOW,
    ),
)
