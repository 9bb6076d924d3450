"""What the charts ask of the buckets of a range, and the frame that they share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from django.utils.translation import gettext as _

from advisor.mysql import series
from advisor.mysql.snapshot import Snapshot
from advisor.ui import quantities
from advisor.ui.charts.chart import Happening, Point, Trace
from advisor.web.charts.settings import SettingsHistory
from collector.store.interface import Buckets

PERCENT = 100.0
Places = list[tuple[float, float] | None]


@dataclass(frozen=True)
class Frame:
    """What all charts of a page share. ``started`` and ``ended`` are unix milliseconds; ``gaps`` holds (from, to, why).

    ``snapshot`` is the newest one: it tells what the server is, and which of its sources could not be read.
    """

    started: float
    ended: float
    gaps: tuple[tuple[float, float, str], ...] = ()
    happenings: tuple[Happening, ...] = ()
    snapshot: Snapshot | None = None
    settings: SettingsHistory = field(default_factory=SettingsHistory)


class History:
    """The buckets of a range, and those of the range that it is compared with, moved onto the same time."""

    def __init__(self, buckets: Buckets, before: Buckets | None = None, back_seconds: float = 0.0) -> None:
        self.buckets = buckets
        self.at = buckets.at.tolist()
        self._before = before
        self._moved = back_seconds * 1000

    def has(self, name: str) -> bool:
        one = self.buckets.series.get(name)
        return one is not None and bool(np.isfinite(one.last).any())

    def points(self, name: str, scale: float = 1.0) -> list[Point]:
        """(unix milliseconds, least, greatest, last) times ``scale``; None where the line breaks."""
        if name not in self.buckets.series:
            return [None] * len(self.at)
        found = self.buckets.points(name)
        return list(found) if scale == 1.0 else _scaled(found, scale)

    def past(self, name: str, scale: float = 1.0) -> list[Point]:
        """The same of the range that is compared with, at the times of this one; empty where nothing is known."""
        if self._before is None or name not in self._before.series:
            return []
        found = [
            None if p is None else (p[0] + self._moved, p[1] * scale, p[2] * scale, p[3] * scale)
            for p in self._before.points(name)
        ]
        return found if any(found) else []

    def past_trace(self, name: str, title: str, key: str, scale: float = 1.0) -> tuple[Trace, ...]:
        """The same as the grey dashes that every chart draws it with; nothing where nothing is known."""
        points = self.past(name, scale)
        return (Trace(title, "past", points, band=False, dashed=True, key=key),) if points else ()

    def limit(self, name: str) -> Places:
        return [None if p is None else (p[0], p[3]) for p in self.points(name)]

    def last(self, name: str) -> float | None:
        if not self.has(name):
            return None
        values = self.buckets.series[name].last
        return float(values[np.isfinite(values)][-1])

    def greatest(self, name: str) -> float | None:
        if not self.has(name):
            return None
        return float(np.nanmax(self.buckets.series[name].greatest))


def _scaled(points: Sequence[Point], scale: float) -> list[Point]:
    return [None if p is None else (p[0], p[1] * scale, p[2] * scale, p[3] * scale) for p in points]


def point_name(snapshot: Snapshot | None) -> str:
    """What the pressure is measured against on this server, in words."""
    if snapshot is not None and snapshot.identity.version.is_mariadb and snapshot.identity.version.number >= (10, 5, 0):
        return _("maximum age")
    return _("sync point")


def async_ratio(history: History) -> float | None:
    """The async point that acts as a share of the point at which writers wait."""
    point, limit = history.last(series.EFFECTIVE_ASYNC_POINT), history.last(series.EFFECTIVE_SYNC_POINT)
    return point / limit if point and limit else None


def rate_words(points: Sequence[Point]) -> dict[str, str] | None:
    """The newest, mean, least and greatest of a rate as texts for a sentence; None where nothing is known."""
    known = [point for point in points if point is not None]
    if not known:
        return None
    return {
        "now": quantities.number(known[-1][3]),
        "mean": quantities.number(sum(point[3] for point in known) / len(known)),
        "least": quantities.number(min(point[1] for point in known)),
        "most": quantities.number(max(point[2] for point in known)),
    }
