"""How a server is at this minute, from its newest intervals: plain arithmetic over what the store holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from advisor.engine.evidence import covered_seconds, is_loaded
from advisor.mysql import series
from advisor.mysql.rates import Interval

#: Seconds that "now" is told from.
WINDOW_SECONDS = 60
#: Headroom below this is watched.
WATCH_SECONDS = 15 * 60
#: A poll at or above this share of the limit is at the limit: polls see the age at one instant.
AT_LIMIT = 0.99
#: Counters that rise only while user threads wait for redo space.
_WAITS = ("log_on_file_space_waits", "buffer_flush_sync_waits")


class Condition(StrEnum):
    """How near writers are to waiting for redo, mildest first. ``new`` and ``stale`` say that it is not known."""

    NEW = "new"
    CALM = "calm"
    WATCH = "watch"
    WARNING = "warning"
    CRITICAL = "critical"
    STALE = "stale"


@dataclass(frozen=True)
class Vitals:
    """Figures of the last minute. Ratios are of the limit; None where the server does not tell.

    ``pressure`` is the newest, ``highest`` the greatest of the minute. ``headroom_seconds`` is the time until writers
    wait at the present slope: 0 where they had to in this minute, None while the age does not grow. ``has_sync_point``
    is false on MariaDB 10.5+, whose limit is the maximum checkpoint age.
    """

    at: float
    pressure: float | None
    highest: float | None
    async_ratio: float | None
    headroom_seconds: float | None
    waited: bool
    loaded: bool
    has_sync_point: bool
    transactions_per_second: float | None
    redo_bytes_per_second: float | None
    dirty_percent: float | None

    @property
    def warning_begins(self) -> float | None:
        """The pressure from which on a loaded server is in warning, None where its points are not known."""
        if self.async_ratio is None:
            return None
        return self.async_ratio if self.has_sync_point else (1 + self.async_ratio) / 2

    @property
    def condition(self) -> Condition:
        """Critical where a writer had to wait in the last minute, warning above the async point, watch shortly before
        it.

        An idle server may keep a high age for hours, which harms nobody, so only a loaded one is in need. MariaDB 10.5+
        lets the age rise to the async point under any load; there warning begins halfway from it to the limit.
        """
        if self.pressure is None or self.highest is None or not self.loaded:
            return Condition.CALM
        if self.waited or self.highest >= AT_LIMIT:
            return Condition.CRITICAL
        begins = self.warning_begins
        if begins is not None:
            if self.highest >= begins:
                return Condition.WARNING
            if self.has_sync_point and self.headroom_seconds is not None and self.headroom_seconds < WATCH_SECONDS:
                # A log that fills in minutes is normal right after a checkpoint; worth a look once half of it is used.
                if self.pressure >= 0.5:
                    return Condition.WATCH
        return Condition.CALM


def read(intervals: Sequence[Interval], *, seconds: float = WINDOW_SECONDS) -> Vitals | None:
    """The vitals of the last minute (or so many seconds) of these intervals, None without any."""
    if not intervals:
        return None
    newest = intervals[-1].ended_at
    minute = [one for one in intervals if one.started_at >= newest - seconds - 1] or [intervals[-1]]
    last = minute[-1]
    pressures = [float(value) for one in minute if (value := one.last(series.PRESSURE)) is not None]
    age, limit = last.last(series.CHECKPOINT_AGE), _limit(last)
    asynchronous = last.last(series.EFFECTIVE_ASYNC_POINT)
    if asynchronous is None:
        asynchronous = last.last(series.ASYNC_POINT)
    redo, checkpointed = _rate(minute, series.LSN), _rate(minute, series.CHECKPOINT_LSN)
    headroom = None
    if age is not None and limit and redo is not None and checkpointed is not None and redo > checkpointed:
        headroom = max(0.0, float(limit) - float(age)) / (redo - checkpointed)
    dirty = last.last(series.DIRTY_PERCENT)
    pressure = last.last(series.PRESSURE)
    waited = any((one.delta(name) or 0) > 0 for one in minute for name in _WAITS)
    loaded = any(is_loaded(one) for one in minute)
    if loaded and (waited or max(pressures, default=0.0) >= AT_LIMIT):
        # The age is a saw-tooth: between two teeth a slope promises minutes that the minute itself has disproved.
        headroom = 0.0
    return Vitals(
        at=newest,
        pressure=None if pressure is None else float(pressure),
        highest=max(pressures, default=None),
        async_ratio=float(asynchronous) / float(limit) if asynchronous is not None and limit else None,
        headroom_seconds=headroom,
        waited=waited,
        loaded=loaded,
        has_sync_point=last.last(series.SYNC_POINT) is not None,
        transactions_per_second=_rate(minute, series.TRANSACTIONS),
        redo_bytes_per_second=redo,
        dirty_percent=None if dirty is None else float(dirty),
    )


def _limit(interval: Interval) -> float | None:
    for name in (series.EFFECTIVE_SYNC_POINT, series.SYNC_POINT, series.MAXIMUM_AGE):
        value = interval.last(name)
        if value:
            return float(value)
    return None


def _rate(minute: Sequence[Interval], name: str) -> float | None:
    """Growth per second over the intervals in which it can be told."""
    told = [one for one in minute if one.delta(name) is not None]
    seconds = covered_seconds(told)
    return sum(float(one.delta(name) or 0) for one in told) / seconds if seconds else None
