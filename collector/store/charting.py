"""Samples of one tier or of both as the buckets of a chart.

A *run* is a tier's samples of a range, already told as they are shown: gauges as read, counters per second. Samples
that were condensed before (a rollup's cells) and single ones stand in one form, so that what follows treats them alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from collector.store import downsample, rates
from collector.store.columns import F64, I64, Columns
from collector.store.interface import Buckets, Series, SeriesKind


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


def run(columns: Columns, names: Sequence[str], start: float) -> Run:
    """The polls at or after ``start`` as a run; ``columns`` may begin before, and holds ``rates.HELPERS``, too."""
    longest = rates.longest_seconds(columns.slots)
    spacing = int(np.quantile(np.diff(columns.slots), 0.25, method="lower")) if len(columns) > 1 else 1
    inside = columns.slots >= start
    values = told(columns, names, longest)[:, inside]
    slots = columns.slots[inside]
    return Run(tuple(names), slots, slots, values, values, values, spacing, longest)


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


def buckets(runs: Sequence[Run], names: Sequence[str], start: float, end: float, points: int) -> Buckets:
    """The runs' series together: a name stands in one run, or in none (then it is NaN throughout)."""
    # A bucket narrower than the polls' spacing would be empty and only look like a hole.
    width = max(downsample.width_seconds(start, end, points), *(one.spacing for one in runs))
    longest = max(one.longest for one in runs)
    groups = [downsample.grouping(one.first, one.until, width) for one in runs]
    frame = downsample.frame(groups, longest)
    series = {}
    for one, group in zip(runs, groups, strict=True):
        extremes = downsample.extremes(one.least, one.greatest, one.last, group)
        least, greatest, last = (downsample.placed(values, group, frame) for values in extremes)
        for row, name in enumerate(one.names):
            series[name] = Series(_kind(name), least[row], greatest[row], last[row])
    nothing = np.full(frame.at.size, np.nan)
    return Buckets(
        start=start,
        end=end,
        step_seconds=width,
        at=frame.at,
        series={name: series.get(name) or Series(_kind(name), nothing, nothing, nothing) for name in names},
    )


def _kind(name: str) -> SeriesKind:
    return SeriesKind.RATE if rates.is_rate(name) else SeriesKind.GAUGE
