"""The redo log is far bigger than its load uses.

Why it matters
    Redo that is never filled costs disk, and room that the age may grow into when flushing falls behind: recovery after
    a crash then takes as long as the log allows, not as long as the load needs. It slows nothing while the server runs.

How it is computed
    Only from seven days of observation with the present settings: the 99th percentile of age / limit stays below 10 %
    (from hourly histograms in steps of 5 %), the busiest hour writes less than an eighth of the capacity, and the log
    is bigger than 1 GiB. The proposal is the biggest of twice the busiest hour, twenty minutes of the peak rate below
    the async point, and four times the 99th percentile of the age, at least 1 GiB. It is made only where it takes less
    than half of the present size, and the whole log would not recover within the budget of five minutes anyway (taken
    for an SSD where the storage is not known).

When to dismiss it
    The load is seasonal and its peak is not in the last week, or disk and recovery time do not matter here.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.facts.redo import LongPressure, RedoLoad, RedoLog
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity, unused
from advisor.engine.redo_sizing import ASYNC_SHARE, recovery_seconds
from advisor.engine.rule import Rule
from advisor.engine.scene import hours, scene, stated
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import DAY, GIB, KIB, MIB, Quantity, Unit, round_up


@dataclass(frozen=True)
class Parameters(Thresholds):
    """When a redo log is generous beyond use."""

    p99_ratio: float = threshold(
        0.10, unit=Unit.RATIO, meaning="99th percentile of age / limit below which a log is hardly used", leave_at=0.15
    )
    hours_held: float = threshold(8, unit=Unit.COUNT, meaning="busiest hours that fit into the log", leave_at=7)
    smallest_bytes: float = threshold(GIB, unit=Unit.BYTES, meaning="no log up to this size is called too big")
    recovery_seconds: float = threshold(
        300, unit=Unit.SECONDS, meaning="recovery of the whole log that nobody minds", leave_at=280
    )
    proposed_ratio: float = threshold(
        0.5,
        unit=Unit.RATIO,
        meaning="the proposal as a share of the present size, from which a change is not worth it",
        leave_at=0.55,
    )
    proposed_hours: float = threshold(2, unit=Unit.COUNT, meaning="busiest hours that the proposal holds")
    proposed_ages: float = threshold(
        4, unit=Unit.COUNT, meaning="how often the 99th percentile of the age fits into the proposal"
    )
    peak_seconds: float = threshold(
        1200, unit=Unit.SECONDS, meaning="time of peak writes that fits below the async point of the proposal"
    )


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.1",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-redo-log.html",
        "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-redo-log",
    ],
)


@rule.check
def check(log: RedoLog, load: RedoLoad, pressure: LongPressure, p: Parameters) -> Finding | Passed:
    figures = log.measured() + load.measured() + pressure.measured()
    recovery = recovery_seconds(log.capacity_bytes, log.storage)
    wanted = max(
        p.proposed_hours * load.busiest_hour_bytes,
        load.peak_bytes_per_second * p.peak_seconds / ASYNC_SHARE,
        p.proposed_ages * pressure.p99_age_bytes,
        p.smallest_bytes,
    )
    changes = log.change_to(round_up(wanted, GIB if wanted > GIB else 256 * MIB))
    capacity = log.capacity_by(changes)
    if (
        pressure.p99_ratio(log) >= p.p99_ratio
        or load.busiest_hour_bytes * p.hours_held >= log.capacity_bytes
        or log.capacity_bytes <= p.smallest_bytes
        or recovery <= p.recovery_seconds
        or capacity >= p.proposed_ratio * log.capacity_bytes
    ):
        return Passed(figures)
    becomes = {
        "time": Quantity(recovery_seconds(capacity, log.storage), Unit.SECONDS),
        "disk": Quantity(log.capacity_bytes - capacity, Unit.BYTES),
    }
    return Finding(
        (
            Item(
                message=Message(
                    "The redo log of {capacity} holds {time} of the busiest writes",
                    {
                        "capacity": Quantity(log.capacity_bytes, Unit.BYTES),
                        "time": Quantity(log.limit_bytes * 3600 / max(load.busiest_hour_bytes, 1), Unit.SECONDS),
                    },
                ),
                evidence=unused(figures),
                proposal=changes,
                expected=Message("Crash recovery needs at most {time}, and {disk} of disk become free.", becomes)
                if log.storage is not None
                else Message(
                    "Crash recovery needs at most {time} if the storage is an SSD, and {disk} of disk become free.",
                    becomes,
                ),
                price=(
                    Price(
                        PriceKind.DISK_WRITES,
                        Message("less room for a load that grows: pages are written earlier once the age rises"),
                    ),
                ),
                would_change_our_mind=Message(
                    "An hour that writes more than {bytes} of redo.",
                    {"bytes": Quantity(log.capacity_bytes / p.hours_held, Unit.BYTES)},
                ),
            ),
        )
    )


_WEEK = 7 * 24
rule.fires(
    "64 GiB for 200 MiB an hour",
    scene(
        "mysql 8.0.33",
        {"innodb_redo_log_capacity": 64 * GIB},
        redo_per_second=60 * KIB,
        pressure=[0.01],
        digests=hours(_WEEK, redo_per_hour=200 * MIB, pressure=0.01, capacity_bytes=64 * GIB),
    ),
)
rule.fires(
    "The same on MariaDB",
    scene(
        "mariadb 11.4.5",
        {"innodb_log_file_size": 64 * GIB},
        redo_per_second=60 * KIB,
        pressure=[0.01],
        digests=hours(_WEEK, redo_per_hour=200 * MIB, pressure=0.01, capacity_bytes=64 * GIB),
    ),
)
rule.passes(
    "A log that recovers in a minute may be generous",
    scene(
        "mysql 8.0.33",
        {"innodb_redo_log_capacity": 8 * GIB},
        redo_per_second=60 * KIB,
        pressure=[0.01],
        uptime_seconds=40 * DAY,
        digests=hours(_WEEK, redo_per_hour=200 * MIB, pressure=0.01, capacity_bytes=8 * GIB),
        host=stated(storage="ssd"),
    ),
)
