"""Which time before and after a change is compared, and what makes a comparison impossible.

After a change the server needs a while: a redo log that is resized begins with an age of nearly zero, and fills again.
It has settled when the age crossed its own median since the change twice, as it does once it swings around a level and
never does while it climbs to one; in a larger log also when it holds as many bytes as the smaller one usually did: from
then on the two are compared under what filled the old one, and a log of hours would take hours to swing. Never before
``least``, and after ``most`` in any case.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from advisor.engine.units import MINUTE
from advisor.engine.verdict_course import Course, work_kind_of
from advisor.mysql import series
from advisor.mysql.rates import Interval

#: Fewer polls than this in either window say nothing.
ENOUGH_POLLS = 12
#: What must have been measured of a window.
LEAST_COVERED = 0.8
#: A poll bears the time at which it was due, and is read a little later: one just before the change may have seen it.
_SLOT_SECONDS = 2.0
#: What the age usually was is told by so many polls.
_USUAL_POLLS = 60
#: As many earlier windows are looked at, to know how much windows differ by themselves.
_MOST_EARLIER = 12


@dataclass(frozen=True)
class Settle:
    """How long a server is left alone after a change, in seconds."""

    least: float = 2 * MINUTE
    most: float = 15 * MINUTE


@dataclass(frozen=True)
class Windows:
    """Two windows of about equal length, and those of the same length before them, all of one unit of work."""

    before: Course
    after: Course
    earlier: tuple[Course, ...]


def settled_at(intervals: Sequence[Interval], ended_at: float, settle: Settle) -> float | None:
    """The instant from which the time after a change that ended at ``ended_at`` may be judged; None: not yet.

    A redo log that is still being resized has not settled; the median counts from the last step of it.
    """
    polls = [one.current for one in intervals if one.ended_at >= ended_at]
    ages = [(one.at, one.values.get(series.CHECKPOINT_AGE), one.values.get(series.CAPACITY)) for one in polls]
    usual, size = _usually(intervals, ended_at)
    begin = 0
    for place in range(1, len(ages)):
        if ages[place][2] != ages[place - 1][2]:
            begin = place
    for place in range(begin, len(ages)):
        at = ages[place][0]
        if at >= ended_at + settle.most:
            return at
        if at < ended_at + settle.least:
            continue
        _, now, capacity = ages[place]
        if None not in (usual, size, now, capacity) and capacity > size and now >= usual:  # type: ignore[operator]
            return at
        known = np.array([age for _, age, _ in ages[begin : place + 1] if age is not None], dtype=np.float64)
        if not known.size or _crossings(known) >= 2:
            return at
    return None


def _usually(intervals: Sequence[Interval], changed_at: float) -> tuple[float | None, float | None]:
    """The median of the age before the change and the log's capacity then, in bytes; None where not known."""
    before = [one.current.values for one in intervals if one.ended_at <= changed_at - _SLOT_SECONDS][-_USUAL_POLLS:]
    ages = [one[series.CHECKPOINT_AGE] for one in before if series.CHECKPOINT_AGE in one]
    size = next((one[series.CAPACITY] for one in reversed(before) if series.CAPACITY in one), None)
    return (float(np.median(ages)) if ages else None), size


def _crossings(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> int:
    """How often the values cross their own median; those that equal it cross nothing."""
    sides = np.sign(values - np.median(values))
    sides = sides[sides != 0]
    return int((np.diff(sides) != 0).sum())


def windows(
    intervals: Sequence[Interval], *, began_at: float, settled_at: float, until: float, longest: float
) -> Windows | None:
    """The windows of equal length that the intervals (oldest first) allow: the one before ends with the last poll
    before ``began_at``, the one after with the last before ``until``. None where a side has nothing at all.
    """
    earlier = [one for one in intervals if one.ended_at <= began_at - _SLOT_SECONDS]
    later = [one for one in intervals if one.started_at >= settled_at - 1 and one.ended_at <= until]
    if not earlier or not later:
        return None
    # Of the time before, only what the same process did: whatever was before a restart had other settings, perhaps.
    process = _started(earlier[-1])
    earlier = [one for one in earlier if abs(_started(one) - process) < MINUTE]
    length = min(longest, later[-1].ended_at - later[0].started_at, earlier[-1].ended_at - earlier[0].started_at)
    before = _last(earlier, length)
    after = _last(later, length)
    rest = earlier[: len(earlier) - len(before)]
    parts: list[Sequence[Interval]] = []
    while len(parts) < _MOST_EARLIER and rest:
        part = _last(rest, length)
        if sum(one.seconds for one in part) < LEAST_COVERED * length or len(part) < ENOUGH_POLLS:
            break
        parts.append(part)
        rest = rest[: len(rest) - len(part)]
    kind = work_kind_of(before, after)
    return Windows(Course(before, kind), Course(after, kind), tuple(Course(part, kind) for part in parts))


def _last(intervals: Sequence[Interval], seconds: float) -> Sequence[Interval]:
    begin = intervals[-1].ended_at - seconds
    first = next(place for place, one in enumerate(intervals) if one.started_at >= begin - 1 or one is intervals[-1])
    return intervals[first:]


def _started(interval: Interval) -> float:
    """When the process that answered had started, by its own clock."""
    return interval.current.server_clock - interval.current.uptime_seconds
