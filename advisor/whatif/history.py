"""What was recorded, made ready to be replayed: steps of equal length, with everything left out that would mislead.

Left out, and counted: gaps (nobody looked, or another server answered), intervals without a rate (restarts, counters
that were set back), and the time around a resize of the log, while pages are still flushed for the old size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from advisor.engine.evidence import LOADED_BYTES_PER_SECOND
from advisor.engine.facts.redo import AT_LIMIT
from advisor.engine.statistics import weighted_percentile
from advisor.engine.units import HOUR, MINUTE
from advisor.mysql.digest import PRESSURE_STEP, HourlyDigest
from advisor.whatif.simulation import Step

F64 = npt.NDArray[np.float64]

#: How long after a resize the age still tells of the old size.
SETTLE_SECONDS = 10 * MINUTE
#: Steps of an hour that is known by its digest: the busiest minute in the middle, five steps at the hour's mean on
#: either side.
_HALF_STEPS = 5


@dataclass(frozen=True)
class Samples:
    """Polls of one server as arrays, oldest first: ``at`` in unix seconds, rates per second over the time since the
    poll before (NaN: it cannot be told), gauges at that instant, all sizes in bytes.
    """

    at: F64
    written: F64
    advanced: F64
    age: F64
    limit: F64
    async_point: F64
    capacity: F64
    pages_flushed: F64
    dirty_pages: F64


@dataclass(frozen=True)
class Excluded:
    """What was left out: seconds in holes and without a rate, how many resizes, and the seconds around them."""

    gap_seconds: float = 0.0
    reset_seconds: float = 0.0
    resizes: int = 0
    resize_seconds: float = 0.0

    @property
    def seconds(self) -> float:
        return self.gap_seconds + self.reset_seconds + self.resize_seconds


@dataclass(frozen=True)
class Recorded:
    """Steps to replay, and what was seen meanwhile.

    ``seconds`` were asked for, ``read_seconds`` are in the steps. ``advanced`` and ``pages`` (bytes and pages per
    second of each step) and ``dirty`` (pages) are empty where only digests are known.
    """

    steps: tuple[Step, ...]
    seconds: float
    excluded: Excluded
    capacity_bytes: int
    advanced: tuple[float, ...] = ()
    pages: tuple[float, ...] = ()
    dirty: tuple[float, ...] = ()
    from_digests: bool = False

    @property
    def read_seconds(self) -> float:
        return sum(step.seconds for step in self.steps)

    @property
    def loaded_seconds(self) -> float:
        return sum(step.seconds for step in self.steps if step.written >= LOADED_BYTES_PER_SECOND)

    @property
    def gap_ratio(self) -> float:
        """The share of the time asked for that is not in the steps."""
        return max(0.0, 1.0 - self.read_seconds / self.seconds) if self.seconds else 1.0

    @property
    def held_back_ratio(self) -> float:
        """The share of the time in which writers waited, so that what was written is less than what was wanted."""
        held = sum(step.seconds for step in self.steps if (step.share or 0.0) >= AT_LIMIT)
        return held / self.read_seconds if self.read_seconds else 0.0

    def known_shares(self) -> list[tuple[float, float]]:
        """(share of the limit, seconds) of each step whose age was read."""
        return [(step.share, step.seconds) for step in self.steps if step.share is not None]


def from_samples(
    samples: Samples, *, start: float, end: float, most_steps: int = 3000, settle_seconds: float = SETTLE_SECONDS
) -> Recorded:
    """Polls of a range as at most about ``most_steps`` steps of equal length.

    A server that is watched for less than the range is asked for no more than it has: no gap, but a shorter time.
    """
    at = samples.at
    if at.size < 2:
        return Recorded((), end - start, Excluded(gap_seconds=end - start), 0)
    seconds = np.diff(at, prepend=at[0])
    usual = float(np.median(seconds[1:]))
    hole = seconds > max(4 * usual, MINUTE)
    capacity = samples.capacity
    known = capacity[np.isfinite(capacity)]
    resized, of_this_size = np.zeros(at.size, np.bool_), np.ones(at.size, np.bool_)
    if known.size:
        filled = np.where(np.isfinite(capacity), capacity, known[0])
        resized[1:] = filled[1:] != filled[:-1]
        # Ages of another size tell of that size; what was written is the workload's and counts all along.
        of_this_size = filled == known[-1]
    settling = np.zeros(at.size, np.bool_)
    for when in at[resized]:
        settling |= (at >= when) & (at < when + settle_seconds)
    no_rate = ~np.isfinite(samples.written)
    good = ~hole & ~settling & ~no_rate
    good[0] = False
    rated = ~hole & ~settling & no_rate
    rated[0] = False
    excluded = Excluded(
        gap_seconds=float(seconds[hole].sum()),
        reset_seconds=float(seconds[rated].sum()),
        resizes=int(resized.sum()),
        resize_seconds=float(seconds[settling & ~hole].sum()),
    )
    size = max(1, -(-int(good.sum()) // most_steps))
    columns: list[tuple[Step, float, float, float]] = []
    edges = np.flatnonzero(np.diff(np.concatenate(([False], good, [False])).astype(np.int8)))
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = np.where(of_this_size, samples.age / samples.limit, np.nan)
    for begin, finish in zip(edges[::2], edges[1::2], strict=True):
        for first in range(begin, finish - size + 1, size):
            part = slice(first, first + size)
            length = float(seconds[part].sum())

            def mean(values: F64, part: slice = part, length: float = length) -> float:
                return float(np.nansum(values[part] * seconds[part]) / length)

            before = shares[first - 1] if first == begin else np.nan
            share = shares[first + size - 1]
            begins = float(before) if np.isfinite(before) else float(share) if np.isfinite(share) else 0.0
            step = Step(
                seconds=usual * size,
                written=mean(samples.written),
                share=float(share) if np.isfinite(share) else None,
                begins=begins if first == begin else None,
            )
            last = samples.dirty_pages[first + size - 1]
            columns.append((step, mean(samples.advanced), mean(samples.pages_flushed), float(last)))
    return Recorded(
        steps=tuple(one[0] for one in columns),
        seconds=float(at[-1] - max(at[0], start)),
        excluded=excluded,
        capacity_bytes=int(known[-1]) if known.size else 0,
        advanced=tuple(one[1] for one in columns),
        pages=tuple(one[2] for one in columns),
        dirty=tuple(one[3] for one in columns),
    )


def from_digests(digests: Sequence[HourlyDigest], *, start: float, end: float, capacity_bytes: int) -> Recorded:
    """Hours of a long range, each as its busiest minute within its mean rate. Hours of another capacity give their
    writes and no age.
    """
    steps: list[Step] = []
    resizes, previous = 0, 0
    read = 0.0
    next_hour = 0
    for digest in digests:
        if digest.seconds < 2 * MINUTE:
            continue
        read += digest.seconds
        if previous and digest.capacity_bytes != previous:
            resizes += 1
        previous = digest.capacity_bytes
        same = digest.capacity_bytes == capacity_bytes
        middle = weighted_percentile(digest.pressure_histogram, PRESSURE_STEP, 0.5) if same else None
        busiest = digest.busiest_minute_bytes / MINUTE
        rest = max(digest.redo_written_bytes - digest.busiest_minute_bytes, 0) / max(digest.seconds - MINUTE, 1.0)
        # Whole hours all have steps of one length, so that the model keeps one table for them.
        length = ((HOUR if digest.seconds > 0.9 * HOUR else digest.seconds) - MINUTE) / (2 * _HALF_STEPS)
        begins = None if digest.hour_at == next_hour else (middle or 0.0)
        next_hour = digest.hour_at + HOUR
        for index in range(2 * _HALF_STEPS + 1):
            peak = index == _HALF_STEPS
            steps.append(
                Step(
                    seconds=float(MINUTE) if peak else length,
                    written=busiest if peak else rest,
                    begins=begins if index == 0 else None,
                )
            )
    whole = digests[-1].hour_at + HOUR - max(digests[0].hour_at, start) if digests else end - start
    return Recorded(
        steps=tuple(steps),
        seconds=whole,
        excluded=Excluded(gap_seconds=max(0.0, whole - read), resizes=resizes),
        capacity_bytes=capacity_bytes,
        from_digests=True,
    )
