"""A short observation of a real server as if it had gone on for hours: for rules that wait for a day or a week."""

from __future__ import annotations

from dataclasses import replace

from advisor.engine import reading
from advisor.engine.evidence import covered_seconds
from advisor.engine.facts.flushing import PAGES_FLUSHED
from advisor.engine.observation import Observation
from advisor.engine.statistics import median, percentile
from advisor.engine.units import HOUR, MINUTE
from advisor.mysql import series
from advisor.mysql.digest import PRESSURE_STEP, HourlyDigest

_CELLS = 31
_AT_LIMIT = 0.99


def carried_on(seen: Observation, hours: int) -> Observation:
    """The same observation with so many hourly digests before it, each with the rates and ages that were measured.

    The window must hold an interval at least. Uptime becomes what the hours ask for.
    """
    last = seen.intervals[-1]
    seconds = covered_seconds(seen.intervals)
    stretch = HOUR / seconds
    histogram = [0.0] * _CELLS
    above = at_limit = 0.0
    for one in seen.intervals:
        pressure = float(one.last(series.PRESSURE) or 0.0)
        histogram[min(_CELLS - 1, int(pressure / PRESSURE_STEP))] += one.seconds * stretch
        above += one.seconds * stretch * ((one.last(series.CHECKPOINT_AGE) or 0) >= (one.last(series.ASYNC_POINT) or 0))
        at_limit += one.seconds * stretch * (pressure >= _AT_LIMIT)
    written = reading.grown(seen.intervals, series.LSN) or 0.0
    flushed = reading.rates(seen.intervals, PAGES_FLUSHED) or [0.0]
    began = int(last.ended_at) - hours * HOUR
    return replace(
        seen,
        snapshot=replace(seen.snapshot, uptime_seconds=max(seen.snapshot.uptime_seconds, (hours + 1) * HOUR)),
        digests=tuple(
            HourlyDigest(
                hour_at=began + index * HOUR,
                seconds=float(HOUR),
                redo_written_bytes=int(written * stretch),
                busiest_minute_bytes=int(written * MINUTE / seconds),
                pressure_histogram=tuple(histogram),
                seconds_above_async=above,
                seconds_at_limit=at_limit,
                pages_flushed_median=median(flushed),
                pages_flushed_p95=percentile(flushed, 0.95),
                capacity_bytes=int(last.last(series.CAPACITY) or seen.snapshot.derived[series.CAPACITY]),
            )
            for index in range(hours)
        ),
    )
