"""How big the redo log should be: the arithmetic that the rules about the redo log and about flushing share.

The classic advice (one busy hour of writes) is kept for long observations; a short one sizes the log for ten
minutes at the rate that was seen, so that the same load stays below the async point, and is bounded so that a
minute's burst cannot ask for half a disk.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from advisor.engine.evidence import HIGH_COVERAGE
from advisor.engine.facts.redo import RedoLoad, RedoLog, RedoPressure
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import DAY, GIB, MIB, Unit, round_up
from advisor.mysql.proposal import SetVariable
from advisor.mysql.snapshot import Remedy, RemedyKind

#: The async point's share of the capacity: 70 to 78 % in all series, so that what fits below it is three quarters.
ASYNC_SHARE = 0.75
#: The highest age that can need recovery, as a share of the capacity (all series: 78 to 84 %).
HIGHEST_AGE_SHARE = 0.83
#: Bytes of redo that crash recovery reads and applies in a second: the lower end of what is known for each kind of
#: storage.
RECOVERY_BYTES_PER_SECOND = {"ssd": 100 * MIB, "hdd": 30 * MIB}

#: What rules about flushing answer while the log is too small and can be enlarged: no figure about flushing means
#: anything then. Where it cannot, flushing is what is left to change, and is judged.
ENLARGE_FIRST = Remedy(
    RemedyKind.WINDOW,
    "flushing under a redo log that is big enough",
    "The redo log is too small for this load and forces flushing by itself: enlarge it, then observe again.",
)


@dataclass(frozen=True)
class RedoThresholds(Thresholds):
    """When a redo log is too small, and how big the proposal is. Rules about flushing ask by the same ones, as they are
    in force: relaxed while a recommendation about the log is open.
    """

    at_limit_ratio: float = threshold(
        0.01, unit=Unit.RATIO, meaning="share of time at the limit that proves a log too small", leave_at=0.002
    )
    critical_at_limit_ratio: float = threshold(
        0.05,
        unit=Unit.RATIO,
        meaning="share of time at the limit that is critical, once an hour was seen",
        leave_at=0.03,
    )
    likely_p95_ratio: float = threshold(
        0.90, unit=Unit.RATIO, meaning="95th percentile of age / limit that makes it likely", leave_at=0.80
    )
    hour_p95_ratio: float = threshold(
        0.70, unit=Unit.RATIO, meaning="the same where the log holds less than 40 minutes of writes", leave_at=0.60
    )
    hour_capacities: float = threshold(
        1.5, unit=Unit.RATIO, meaning="redo of the busiest hour as a multiple of the capacity", leave_at=1.3
    )
    peak_seconds: float = threshold(
        1200, unit=Unit.SECONDS, meaning="time of peak writes that should fit below the async point"
    )
    short_peak_seconds: float = threshold(
        600, unit=Unit.SECONDS, meaning="the same, where less than an hour was observed"
    )
    floor_bytes: float = threshold(
        256 * MIB,
        unit=Unit.BYTES,
        meaning="the smallest proposal; only below it a log may be too small by its hold alone",
    )
    held_seconds: float = threshold(
        30, unit=Unit.SECONDS, meaning="writes that a log below the floor has to hold", leave_at=45
    )
    short_ceiling_bytes: float = threshold(
        4 * GIB, unit=Unit.BYTES, meaning="the biggest proposal from less than an hour of observation"
    )
    day_ceiling_bytes: float = threshold(
        16 * GIB, unit=Unit.BYTES, meaning="the biggest proposal from less than a day of observation"
    )
    ceiling_bytes: float = threshold(64 * GIB, unit=Unit.BYTES, meaning="the biggest proposal")
    free_disk_ratio: float = threshold(0.25, unit=Unit.RATIO, meaning="share of the free disk that a log may take")
    proven_factor: float = threshold(
        2, unit=Unit.RATIO, meaning="present size and busiest hour, as multiples that fit where too small is proven"
    )


class TooSmall(Enum):
    """Why a redo log is too small for its load; NOT where it is not."""

    NOT = auto()
    FOR_THE_HOUR = auto()
    LIKELY = auto()
    TURNED_OVER = auto()
    PROVEN = auto()


class Bound(Enum):
    """What a proposal ends at. Those of evidence are lifted by waiting; the others by no observation."""

    MANAGED = auto()
    SERVER = auto()
    DISK = auto()
    CEILING = auto()
    DAY_OF_EVIDENCE = auto()
    HOUR_OF_EVIDENCE = auto()

    @property
    def is_lifted_by_waiting(self) -> bool:
        return self in (Bound.HOUR_OF_EVIDENCE, Bound.DAY_OF_EVIDENCE)


def too_small(log: RedoLog, load: RedoLoad, pressure: RedoPressure, p: RedoThresholds) -> TooSmall:
    """Whether the log is too small, by the strongest of three signs.

    Proven: writers were at the limit (or counted as waiting) and half an hour of this load would fill the log. Two
    intervals with such waits are enough, however many were seen: on a log that holds half an hour they do not occur at
    all, and one alone may be a checkpoint that another cause held up.
    Likely: the age stays close to the limit and the log does not hold the peak. For the hour: the log holds less
    than 40 minutes of the busiest hour and the age shows it. The latter two say nothing where a high age is normal.

    Turned over: a small log is written to its limit within innodb_flushing_avg_loops, the 30 seconds over which InnoDB
    averages the rates that adaptive flushing steers by. The age then runs through its whole range before the average
    has moved, and between few polls, so that what they see of it is chance, while every changed page has to be written
    within that time whatever else is set.
    """
    if (
        (pressure.at_limit_ratio >= p.at_limit_ratio or (pressure.stalled_intervals or 0) >= 2)
        and pressure.stalls_proven
        and load.busiest_hour_bytes > log.capacity_bytes / 2
    ):
        return TooSmall.PROVEN
    if log.capacity_bytes < p.floor_bytes and held_seconds(log, load) < p.held_seconds:
        return TooSmall.TURNED_OVER
    if pressure.high_age_is_normal:
        return TooSmall.NOT
    if pressure.p95 >= p.likely_p95_ratio and wanted_for_peak(load, p) > log.capacity_bytes:
        return TooSmall.LIKELY
    if (
        load.hour_measured
        and load.busiest_hour_bytes > p.hour_capacities * log.capacity_bytes
        and pressure.p95 >= p.hour_p95_ratio
    ):
        return TooSmall.FOR_THE_HOUR
    return TooSmall.NOT


def wanted_for_peak(load: RedoLoad, p: RedoThresholds) -> float:
    """The capacity at which the peak rate stays below the async point for the time that the evidence can speak of."""
    seconds = p.peak_seconds if load.hour_measured else p.short_peak_seconds
    return load.peak_bytes_per_second * seconds / ASYNC_SHARE


def target_bytes(log: RedoLog, load: RedoLoad, verdict: TooSmall, p: RedoThresholds) -> int:
    """The capacity to propose, in bytes, never below the present one; the present one itself where no more can be
    justified.
    """
    factor = p.proven_factor if verdict is TooSmall.PROVEN else 1.0
    wanted = max(wanted_for_peak(load, p), factor * log.capacity_bytes, p.floor_bytes)
    if load.hour_measured:
        wanted = max(wanted, factor * load.busiest_hour_bytes)
    ceiling = ceiling_bytes(log, load, p)
    # A ceiling is one: what a person would write is the next smaller size there.
    return max(
        log.capacity_bytes, min(round_up(wanted, _step(wanted)), int(ceiling // _step(ceiling)) * _step(ceiling))
    )


def ceiling_bytes(log: RedoLog, load: RedoLoad, p: RedoThresholds) -> float:
    """The most that may be proposed, by evidence, free disk (where stated) and the server's own bounds."""
    return min(_bounds(log, load, p).values())


def _bounds(log: RedoLog, load: RedoLoad, p: RedoThresholds) -> dict[Bound, float]:
    """Each bound that there is, in bytes, those that no waiting lifts first."""
    bounds: dict[Bound, float] = {Bound.SERVER: log.largest_bytes}
    if log.self_sized:
        bounds[Bound.MANAGED] = log.capacity_bytes
    if log.free_disk_bytes is not None:
        bounds[Bound.DISK] = p.free_disk_ratio * log.free_disk_bytes
    bounds[Bound.CEILING] = p.ceiling_bytes
    if not load.hour_measured:
        bounds[Bound.HOUR_OF_EVIDENCE] = p.short_ceiling_bytes
    elif load.observed_seconds < HIGH_COVERAGE * DAY:
        bounds[Bound.DAY_OF_EVIDENCE] = p.day_ceiling_bytes
    return bounds


def enlarged(log: RedoLog, load: RedoLoad, verdict: TooSmall, p: RedoThresholds) -> tuple[SetVariable, ...] | Bound:
    """What to set for a log that is too small by this verdict, or what keeps it from being enlarged so that it helps.

    Of several bounds one that no waiting lifts is named first: nobody should wait for evidence where the disk is full.
    """
    if log.self_sized:
        return Bound.MANAGED
    changes = log.change_to(target_bytes(log, load, verdict, p))
    capacity = log.capacity_by(changes)
    # A bigger log that would still be turned over within the average ends nothing, whatever proved it too small.
    held = held_seconds(log, load) * capacity / log.capacity_bytes
    helps = capacity >= p.floor_bytes or held >= p.held_seconds
    if capacity > log.capacity_bytes and helps:
        return changes
    needed = log.capacity_bytes if helps else p.floor_bytes
    reached = [
        bound for bound, size in _bounds(log, load, p).items() if int(size // _step(size)) * _step(size) <= needed
    ]
    return reached[0] if reached else Bound.SERVER


def can_enlarge(log: RedoLog, load: RedoLoad, pressure: RedoPressure, p: RedoThresholds) -> bool:
    """Whether the log is too small and a bigger one can be proposed: then rules about flushing answer
    ``ENLARGE_FIRST``.
    """
    verdict = too_small(log, load, pressure, p)
    return verdict is not TooSmall.NOT and not isinstance(enlarged(log, load, verdict, p), Bound)


def _step(size: float) -> int:
    """Sizes that a person would write: multiples of 4 MiB below 64 MiB, 64 MiB below 1 GiB, 256 MiB below 8 GiB, else
    1 GiB.
    """
    if size < 64 * MIB:
        return 4 * MIB
    return 64 * MIB if size < GIB else 256 * MIB if size < 8 * GIB else GIB


def recovery_seconds(capacity_bytes: float, storage: str | None) -> float:
    """How long crash recovery may take with a log of this capacity, in the worst case; storage "ssd", "hdd" or
    unknown.
    """
    return HIGHEST_AGE_SHARE * capacity_bytes / RECOVERY_BYTES_PER_SECOND.get(storage or "ssd", 100 * MIB)


def held_seconds(log: RedoLog, load: RedoLoad) -> float:
    """For how many seconds of writes at the window's average rate the log's usable part lasts."""
    return log.limit_bytes / max(load.mean_bytes_per_second, 1.0)


def busy_held_seconds(log: RedoLog, load: RedoLoad, capacity_bytes: int) -> float:
    """For how many seconds of the busiest writes that are known a log of this capacity would last."""
    return log.limit_bytes / log.capacity_bytes * capacity_bytes / max(load.busy_bytes_per_second, 1.0)
