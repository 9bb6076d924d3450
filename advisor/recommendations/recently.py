"""What stands behind a server's sentence: the time of trouble (or the last minute) against the hour before it.

Read from the sample history when somebody looks, poll by poll: a figure that was remembered could not be traced.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from advisor.engine.units import HOUR, MINUTE
from advisor.mysql import series
from advisor.recommendations.vitals import AT_LIMIT
from collector.store import store
from collector.store.interface import Buckets

#: Counters that rise while user threads wait for redo space, the best one first; pages that were flushed in their way.
WAITS = ("log_on_file_space_waits", "buffer_flush_sync_waits")
SYNC_PAGES = "buffer_flush_sync_total_pages"
FLUSHED = "Innodb_buffer_pool_pages_flushed"
NAMES = (
    series.PRESSURE,
    series.TRANSACTIONS,
    series.LSN,
    series.CHECKPOINT_LSN,
    series.DIRTY_PERCENT,
    FLUSHED,
    SYNC_PAGES,
    *WAITS,
)
#: No more of a long trouble is read than this: figures of a day say nothing of the present.
LONGEST_SECONDS = HOUR
#: Enough that each bucket holds one poll of the two hours that are read at most.
_POINTS = 2000


@dataclass(frozen=True)
class Figure:
    """One figure of a window. ``how`` names the arithmetic over the samples of ``series`` in it, so that anybody can do
    it again: last, greatest, mean, sum (of the growth between samples).
    """

    name: str
    value: float
    unit: str
    series: str
    how: str
    started_at: float
    ended_at: float


@dataclass(frozen=True)
class Recently:
    """``now`` are figures of the trouble, or of the last minute without one; ``before`` those of the hour before it.
    Both by name; what is not known is left out. ``change_ratio`` is how transactions changed, -0.64 for a fall by 64 %.
    """

    started_at: float
    ended_at: float
    now: dict[str, Figure]
    before: dict[str, Figure]

    @property
    def seconds(self) -> float:
        return self.ended_at - self.started_at

    @property
    def change_ratio(self) -> float | None:
        now, before = self.now.get("transactions"), self.before.get("transactions")
        if now is None or before is None or before.value <= 0:
            return None
        return now.value / before.value - 1


def read(server_id: str, newest: float, since: float | None, spacing: float) -> Recently:
    """``newest`` is the newest poll's instant, ``since`` the beginning of the trouble, None where there is none;
    unix seconds. ``spacing`` is the time between two polls.
    """
    started = newest - MINUTE if since is None else min(since, newest - MINUTE)
    began = max(started, newest - LONGEST_SECONDS)
    if started < began:
        # The hour before a long trouble lies further back than what is read of the trouble itself.
        earlier = store().buckets(server_id, (series.TRANSACTIONS, series.LSN), started - HOUR, started, _POINTS)
        found = store().buckets(server_id, NAMES, began, newest + 1, _POINTS)
    else:
        found = store().buckets(server_id, NAMES, began - HOUR, newest + 1, _POINTS)
        earlier = found
    # The rate that a poll tells is of the time before it: the first one of a window tells of what lies outside.
    # It ends before the next poll, since no page shows a range that is shorter than a minute.
    now = _of(found, began + spacing - 1, newest + spacing - 0.1, spacing)
    before = _of(earlier, started - HOUR + spacing - 1, started + spacing - 1, spacing)
    return Recently(began, newest, now, before)


def _of(buckets: Buckets, started: float, ended: float, spacing: float) -> dict[str, Figure]:
    at = buckets.at / 1000
    inside = (at >= started) & (at < ended)

    def samples(name: str) -> npt.NDArray[np.float64]:
        one = buckets.series.get(name)
        values = one.last[inside] if one is not None else np.zeros(0)
        return values[np.isfinite(values)]

    found: dict[str, Figure] = {}

    def tell(name: str, value: float, unit: str, source: str, how: str) -> None:
        found[name] = Figure(name, value, unit, source, how, started, ended)

    pressure = samples(series.PRESSURE)
    if pressure.size:
        tell("pressure", float(pressure[-1]), "ratio", series.PRESSURE, "last")
        tell("highest", float(pressure.max()), "ratio", series.PRESSURE, "greatest")
        tell("at_limit", float((pressure >= AT_LIMIT).mean()), "ratio", series.PRESSURE, "share")
    for name, source, unit in (
        ("transactions", series.TRANSACTIONS, "1/s"),
        ("redo", series.LSN, "bytes/s"),
        ("checkpoint", series.CHECKPOINT_LSN, "bytes/s"),
        ("flushed", FLUSHED, "pages/s"),
    ):
        if (values := samples(source)).size:
            tell(name, float(values.mean()), unit, source, "mean")
    if (dirty := samples(series.DIRTY_PERCENT)).size:
        tell("dirty", float(dirty[-1]), "percent", series.DIRTY_PERCENT, "last")
    for name, sources in (("waits", WAITS), ("sync_pages", (SYNC_PAGES,))):
        told = next((source for source in sources if samples(source).size), None)
        if told is not None:
            tell(name, float(samples(told).sum() * spacing), "count", told, "sum")
    return found
