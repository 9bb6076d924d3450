"""One hour of a server, condensed: who collects writes it, who judges reads it, so it is defined below both."""

from __future__ import annotations

from dataclasses import dataclass

#: How wide a cell of a digest's histogram of pressure is.
PRESSURE_STEP = 0.05


@dataclass(frozen=True)
class HourlyDigest:
    """One hour of a server, condensed when the hour is over: what long windows are judged from.

    ``hour_at`` is the unix second at which the hour began, ``seconds`` how much of it was observed.
    ``pressure_histogram`` counts seconds by pressure in steps of 0.05 from 0 to 1.5, the last cell taking everything
    above. ``busiest_minute_bytes`` is the most redo written in any minute of it. ``pages_flushed_per_second`` holds the
    hour's median and 95th percentile.
    """

    hour_at: int
    seconds: float
    redo_written_bytes: int
    busiest_minute_bytes: int
    pressure_histogram: tuple[float, ...]
    seconds_above_async: float
    seconds_at_limit: float
    pages_flushed_median: float
    pages_flushed_p95: float
    capacity_bytes: int
    free_pages_ratio_min: float | None = None
