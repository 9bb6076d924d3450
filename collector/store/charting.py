"""Samples of one tier or of both as the buckets of a chart.

A *run* is a tier's samples of a range, already told as they are shown: gauges as read, counters per second. Samples
that were condensed before (a rollup's cells) and single ones stand in one form, so that what follows treats them alike.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from collector.store import downsample, rates
from collector.store.columns import F64, I64, Columns
from collector.store.interface import Buckets, Series, SeriesKind

#: How long cells are: polls of hours that are over are condensed to cells (``collector.store.rollups``). An hour holds
#: whole cells, and a coarse cell holds whole fine ones.
FINE_SECONDS, COARSE_SECONDS = 300, 1200


@dataclass(frozen=True)
class Run:
    """Samples oldest first: ``first`` and ``until`` are the slots of the first and the last poll of each (the same for
    a single poll). The three matrices have one row for each of ``names``, NaN where there is no value.

    ``spacing`` is how far apart the polls usually are, ``longest`` how far they may be to be one line, in seconds.
    """

    names: tuple[str, ...]
    first: I64
    until: I64
    least: F64
    greatest: F64
    last: F64
    spacing: int
    longest: float

    def __len__(self) -> int:
        return int(self.first.size)


def run(columns: Columns, names: Sequence[str], start: float) -> Run:
    """The polls at or after ``start`` as a run; ``columns`` may begin before, and holds ``rates.HELPERS``, too."""
    longest = rates.longest_seconds(columns.slots)
    spacing = int(np.quantile(np.diff(columns.slots), 0.25, method="lower")) if len(columns) > 1 else 1
    inside = columns.slots >= start
    values = told(columns, names, longest)[:, inside]
    slots = columns.slots[inside]
    return Run(tuple(names), slots, slots, values, values, values, spacing, longest)


def joined(runs: Sequence[Run], names: Sequence[str]) -> Run:
    """Runs of the same names as one, oldest first. No sample is in two of them, but one may lie between another's."""
    runs = [one for one in runs if len(one)]
    if not runs:
        nothing = np.zeros((len(names), 0))
        none = np.zeros(0, np.int64)
        return Run(tuple(names), none, none, nothing, nothing, nothing, 1, rates.longest_seconds(none))
    first = np.concatenate([one.first for one in runs])
    order = np.argsort(first, kind="stable")
    return Run(
        tuple(names),
        first[order],
        np.concatenate([one.until for one in runs])[order],
        np.concatenate([one.least for one in runs], axis=1)[:, order],
        np.concatenate([one.greatest for one in runs], axis=1)[:, order],
        np.concatenate([one.last for one in runs], axis=1)[:, order],
        spacing=min(one.spacing for one in runs),
        longest=max(one.longest for one in runs),
    )


def told(columns: Columns, names: Sequence[str], longest: float) -> F64:
    """One row for each name, one entry for each poll: gauges as read, the others as change per second since the poll
    before.
    """
    values = np.full((len(names), len(columns)), np.nan)
    seconds = rates.seconds_between(columns, longest) if len(columns) > 1 else np.zeros(0)
    for row, name in enumerate(names):
        if not rates.is_rate(name):
            values[row] = columns.floats_of(columns.names.index(name))
        elif len(columns) > 1:
            values[row, 1:] = rates.growth(columns, name, seconds) / seconds
    return values


def width_seconds(start: float, end: float, points: int, spacings: Sequence[int] = ()) -> int:
    """The width of a bucket: whole cells from the width of one on, so that a bucket is made of cells or of polls alike.

    A bucket narrower than the polls' spacing would be empty and only look like a hole.
    """
    width = max(downsample.width_seconds(start, end, points), *spacings, 1)
    cell = cell_seconds(width)
    return math.ceil(width / cell) * cell


def begin(start: float, width: int) -> float:
    """Where the samples of a range begin whose buckets have this width: with a whole cell.

    So a range of a week begins up to twenty minutes early, and is the same whether cells or polls tell it.
    """
    cell = cell_seconds(width)
    return start if cell == 1 else start // cell * cell


def cell_seconds(width: int) -> int:
    """The cells that buckets of about this width are made of, 1 for none: they are made of polls.

    A bucket that would be a little narrower than a cell becomes one: 24 h in 300 points are buckets of five minutes.
    """
    return next((cell for cell in (COARSE_SECONDS, FINE_SECONDS) if width >= 0.8 * cell), 1)


def buckets(runs: Sequence[Run], names: Sequence[str], start: float, end: float, points: int) -> Buckets:
    """The runs' series together: a name stands in one run, or in none (then it is NaN throughout)."""
    width = width_seconds(start, end, points, [one.spacing for one in runs])
    longest = max(one.longest for one in runs)
    groups = [downsample.grouping(one.first, one.until, width) for one in runs]
    frame = downsample.frame(groups, longest)
    # Where the range begins with a whole cell, a bucket of it may have ended before the range began.
    inside = slice(int(np.searchsorted(frame.at, start * 1000)), None)
    series = {}
    for one, group in zip(runs, groups, strict=True):
        extremes = downsample.extremes(one.least, one.greatest, one.last, group)
        least, greatest, last = (downsample.placed(values, group, frame)[:, inside] for values in extremes)
        for row, name in enumerate(one.names):
            series[name] = Series(_kind(name), least[row], greatest[row], last[row])
    at = frame.at[inside]
    nothing = np.full(at.size, np.nan)
    return Buckets(
        start=start,
        end=end,
        step_seconds=width,
        at=at,
        series={name: series.get(name) or Series(_kind(name), nothing, nothing, nothing) for name in names},
    )


def _kind(name: str) -> SeriesKind:
    return SeriesKind.RATE if rates.is_rate(name) else SeriesKind.GAUGE
