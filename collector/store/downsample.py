"""At most N points of many samples: the least, the greatest and the last of each bucket.

A line drawn through these looks like the line through all samples once a bucket is no wider than a pixel (the M4 idea
of Jugel and others, VLDB 2014). Buckets stand at multiples of their width, so that a chart that is read again ten
seconds later shows the same points and does not shimmer.
"""

from __future__ import annotations

import math
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
    """Which samples fall into which bucket. ``first`` holds the index of each bucket's first sample.

    ``at`` is the slot of a bucket's last sample. ``holes`` are the buckets (by index) before which the line is broken.
    """

    first: npt.NDArray[np.intp]
    last: npt.NDArray[np.intp]
    at: I64
    holes: npt.NDArray[np.intp]


def grouping(slots: I64, width: int, longest: float) -> Grouping:
    """Groups samples by bucket. A hole is more than ``longest`` seconds long with at least one empty bucket in it."""
    bucket = slots // width
    begins = np.flatnonzero(np.concatenate(([True], bucket[1:] != bucket[:-1]))) if slots.size else np.zeros(0, np.intp)
    ends = np.append(begins[1:], slots.size) - 1 if slots.size else begins
    before, after = ends[:-1], begins[1:]
    apart = slots[after] - slots[before]
    holes = np.flatnonzero((apart > longest) & (bucket[after] - bucket[before] > 1)) + 1
    return Grouping(begins, ends, slots[ends], holes)


def extremes(values: F64, groups: Grouping) -> tuple[F64, F64, F64]:
    """Least, greatest and last of each bucket; NaN where no sample of it has a value.

    ``values`` has the samples along its last axis, NaN for a missing one. The last is the last one that is there.
    """
    if not groups.first.size:
        nothing = np.zeros((*values.shape[:-1], 0))
        return nothing, nothing, nothing
    least = np.fmin.reduceat(values, groups.first, axis=-1)
    greatest = np.fmax.reduceat(values, groups.first, axis=-1)
    last = values[..., groups.last]
    absent = np.isnan(last) & ~np.isnan(least)
    if absent.any():
        last = last.copy()
        for place in zip(*np.nonzero(absent), strict=True):
            begin, end = groups.first[place[-1]], groups.last[place[-1]] + 1
            among = values[place[:-1]][begin:end]
            last[place] = among[np.flatnonzero(~np.isnan(among))[-1]]
    return least, greatest, last


def with_holes(values: F64, groups: Grouping) -> F64:
    """One NaN more where the line is broken, along the last axis."""
    return np.insert(values, groups.holes, np.nan, axis=-1) if groups.holes.size else values


def instants(slots: I64, groups: Grouping) -> I64:
    """Unix milliseconds of each point; a point that only breaks the line stands in the middle of its hole."""
    at = groups.at * 1000
    if not groups.holes.size:
        return at
    middles = (slots[groups.last[groups.holes - 1]] + slots[groups.first[groups.holes]]) * 500
    return np.insert(at, groups.holes, middles)
