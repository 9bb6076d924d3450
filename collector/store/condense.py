"""One hour of polls condensed to a digest, when the hour is sealed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from advisor.mysql import series
from advisor.mysql.digest import HourlyDigest
from collector.store import rates
from collector.store.columns import F64, Columns, Flags
from collector.store.interface import PressureTimes

_PAGES_FLUSHED = "Innodb_buffer_pool_pages_flushed"
_LOG_WRITTEN = "Innodb_os_log_written"
_FREE, _TOTAL = "Innodb_buffer_pool_pages_free", "Innodb_buffer_pool_pages_total"
#: Series that a digest is made from.
NAMES = (
    series.PRESSURE,
    series.CHECKPOINT_AGE,
    series.EFFECTIVE_ASYNC_POINT,
    series.LSN,
    series.CAPACITY,
    _PAGES_FLUSHED,
    _LOG_WRITTEN,
    _FREE,
    _TOTAL,
    *rates.HELPERS,
)
#: Series that the time by pressure alone is told from.
PRESSURE_NAMES = (series.PRESSURE, series.CHECKPOINT_AGE, series.EFFECTIVE_ASYNC_POINT, *rates.HELPERS)
_HISTOGRAM_STEP, _HISTOGRAM_CELLS = 0.05, 31
#: The pressure that counts as standing at the limit: MariaDB 10.5+ stops writers right at the maximum, so that the age
#: is seen a little below it, never above (0.99 of the maximum; MySQL's sync point is crossed by more than that).
AT_LIMIT_PRESSURE = 0.99


def condense(columns: Columns, hour_at: int) -> HourlyDigest:
    """The digest of the hour that begins at ``hour_at`` (unix seconds).

    ``columns`` holds the series of ``NAMES``: the hour's polls and, where there is one, the last poll before it. An
    interval belongs to the hour in which it ends and counts with the gauges read at its end.
    """
    seconds, counted = _counted(columns, hour_at)
    weights = np.where(counted, seconds, 0.0)
    floats = columns.floats()[:, 1:]

    def gauge(name: str) -> F64:
        row: F64 = floats[columns.names.index(name)]
        return row

    def grown(name: str) -> F64:
        return np.where(counted, rates.growth(columns, name, seconds), np.nan)

    pressure = pressure_times(columns, hour_at)
    redo = grown(series.LSN)
    if np.isnan(redo).all():
        redo = grown(_LOG_WRITTEN)
    flushed = (grown(_PAGES_FLUSHED) / seconds)[counted]
    flushed = flushed[~np.isnan(flushed)]
    capacity = gauge(series.CAPACITY)
    capacity = capacity[~np.isnan(capacity)]
    with np.errstate(invalid="ignore", divide="ignore"):
        free = gauge(_FREE) / gauge(_TOTAL)
    free = free[np.isfinite(free)]
    return HourlyDigest(
        hour_at=hour_at,
        seconds=round(float(weights.sum()), 3),
        redo_written_bytes=int(np.nansum(redo)),
        busiest_minute_bytes=_busiest_minute(columns, redo),
        pressure_histogram=tuple(round(cell, 3) for cell in pressure.histogram),
        seconds_above_async=round(pressure.above_async_seconds, 3),
        seconds_at_limit=round(pressure.at_limit_seconds, 3),
        pages_flushed_median=float(np.median(flushed)) if flushed.size else 0.0,
        pages_flushed_p95=float(np.quantile(flushed, 0.95)) if flushed.size else 0.0,
        capacity_bytes=int(capacity[-1]) if capacity.size else 0,
        free_pages_ratio_min=float(free.min()) if free.size else None,
    )


def pressure_times(columns: Columns, start: float) -> PressureTimes:
    """How long the pressure was where from ``start`` (unix seconds) on; ``columns`` as ``condense`` takes it."""
    seconds, counted = _counted(columns, start)
    weights = np.where(counted, seconds, 0.0)
    floats = columns.floats()[:, 1:]
    pressure, age, async_point = (
        floats[columns.names.index(name)]
        for name in (series.PRESSURE, series.CHECKPOINT_AGE, series.EFFECTIVE_ASYNC_POINT)
    )
    known = ~np.isnan(pressure)
    # A ratio such as 0.15 / 0.05 falls just short of 3 in binary; a millionth of a cell puts it where people expect it.
    cells = np.clip((pressure[known] / _HISTOGRAM_STEP + 1e-6).astype(np.int64), 0, _HISTOGRAM_CELLS - 1)
    histogram = np.bincount(cells, weights=weights[known], minlength=_HISTOGRAM_CELLS)
    with np.errstate(invalid="ignore"):
        return PressureTimes(
            tuple(float(cell) for cell in histogram),
            above_async_seconds=float(weights[age >= async_point].sum()),
            at_limit_seconds=float(weights[pressure >= AT_LIMIT_PRESSURE].sum()),
        )


def added(parts: Sequence[PressureTimes]) -> PressureTimes:
    """The times of several ranges that do not overlap, as one."""
    return PressureTimes(
        tuple(sum(cells) for cells in zip(*(part.histogram for part in parts), strict=True))
        or (0.0,) * _HISTOGRAM_CELLS,
        sum(part.above_async_seconds for part in parts),
        sum(part.at_limit_seconds for part in parts),
    )


def condensed(digests: Sequence[Mapping[str, Any]]) -> PressureTimes:
    """The times of hours that were condensed before, from their digests as they are stored."""
    if not digests:
        return added([])
    histogram = np.array([one["pressure_histogram"] for one in digests]).sum(axis=0)
    return PressureTimes(
        tuple(histogram.tolist()),
        sum(one["seconds_above_async"] for one in digests),
        sum(one["seconds_at_limit"] for one in digests),
    )


def _counted(columns: Columns, start: float) -> tuple[F64, Flags]:
    """The seconds of each interval, and which of them end at or after ``start`` and are no gap."""
    seconds = rates.seconds_between(columns, rates.longest_seconds(columns.slots))
    return seconds, (columns.slots[1:] >= start) & ~np.isnan(seconds)


def _busiest_minute(columns: Columns, redo: F64) -> int:
    """The most that was written in any 60 s that end with a poll; within an interval the writing is taken as even."""
    if not redo.size:
        return 0
    at = columns.clock
    if (np.diff(at) <= 0).any():
        # A clock that went back leaves no order to add up in; our slots have one.
        at = columns.slots.astype(np.float64)
    written = np.concatenate(([0.0], np.cumsum(np.nan_to_num(redo))))
    return int((written - np.interp(at - 60.0, at, written)).max())
