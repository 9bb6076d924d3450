"""At most N points of many samples: the least, the greatest and the last of each bucket.

A line drawn through these looks like the line through all samples once a bucket is no wider than a pixel (the M4 idea
of Jugel and others, VLDB 2014). Buckets stand at multiples of their width, so that a chart that is read again ten
seconds later shows the same points and does not shimmer.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from collector.store.columns import F64, I64


def width_seconds(start: float, end: float, points: int) -> int:
    """Whole seconds of a bucket, so that no more than ``points`` of them touch the time from ``start`` to ``end``."""
    if points < 2:
        raise ValueError("a chart needs at least two points")
    return max(1, math.ceil((end - start) / (points - 1)))


@dataclass(frozen=True)
class Grouping:
    """Which samples fall into which bucket: ``number`` of each bucket with samples (its begin divided by its width),
    index of its ``first`` and its ``last`` sample, and the slots at which it ``begins`` and is last ``seen``.
    """

    number: I64
    first: npt.NDArray[np.intp]
    last: npt.NDArray[np.intp]
    begins: I64
    seen: I64


def grouping(first: I64, until: I64, width: int) -> Grouping:
    """Groups samples by bucket. A sample reaches from ``first`` to ``until`` (slots) and lies within one bucket."""
    number = first // width
    if not first.size:
        nothing = np.zeros(0, np.intp)
        return Grouping(number, nothing, nothing, first, until)
    begins = np.flatnonzero(np.concatenate(([True], number[1:] != number[:-1])))
    ends = np.append(begins[1:], first.size) - 1
    return Grouping(number[begins], begins, ends, first[begins], until[ends])


@dataclass(frozen=True)
class Frame:
    """The buckets of all groupings together. ``holes`` are those (by index) before which the line is broken.

    ``at`` are the unix milliseconds of the points: the last sample of each bucket, and the middle of each hole.
    """

    number: I64
    holes: npt.NDArray[np.intp]
    at: I64


def frame(groups: Sequence[Grouping], longest: float) -> Frame:
    """A hole is more than ``longest`` seconds long with at least one empty bucket in it."""
    number = np.unique(np.concatenate([one.number for one in groups]))
    begins = np.full(number.size, np.iinfo(np.int64).max)
    seen = np.zeros(number.size, np.int64)
    for one in groups:
        place = np.searchsorted(number, one.number)
        begins[place] = np.minimum(begins[place], one.begins)
        seen[place] = np.maximum(seen[place], one.seen)
    holes = np.flatnonzero((begins[1:] - seen[:-1] > longest) & (np.diff(number) > 1)) + 1
    at = np.insert(seen * 1000, holes, (seen[holes - 1] + begins[holes]) * 500)
    return Frame(number, holes, at)


def extremes(least: F64, greatest: F64, last: F64, groups: Grouping) -> tuple[F64, F64, F64]:
    """Least, greatest and last of each bucket; NaN where no sample of it has a value.

    The values have the samples along their last axis, NaN for a missing one; single polls are their own least, greatest
    and last. The last is the last one that is there.
    """
    if not groups.first.size:
        nothing = np.zeros((*least.shape[:-1], 0))
        return nothing, nothing, nothing
    lowest = np.fmin.reduceat(least, groups.first, axis=-1)
    highest = np.fmax.reduceat(greatest, groups.first, axis=-1)
    newest = last[..., groups.last]
    absent = np.isnan(newest) & ~np.isnan(lowest)
    if absent.any():
        for place in zip(*np.nonzero(absent), strict=True):
            begin, end = groups.first[place[-1]], groups.last[place[-1]] + 1
            among = last[place[:-1]][begin:end]
            newest[place] = among[np.flatnonzero(~np.isnan(among))[-1]]
    return lowest, highest, newest


def placed(values: F64, groups: Grouping, frame: Frame) -> F64:
    """A grouping's values at the points of the frame, along the last axis; NaN where it has none."""
    whole = np.full((*values.shape[:-1], frame.number.size), np.nan)
    whole[..., np.searchsorted(frame.number, groups.number)] = values
    return np.insert(whole, frame.holes, np.nan, axis=-1) if frame.holes.size else whole
