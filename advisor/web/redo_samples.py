"""What the figures of the redo page are made of: for how long the pressure was where, and the closed hours."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _

from advisor.engine.statistics import percentile
from advisor.engine.units import HOUR, WEEK
from advisor.mysql.digest import PRESSURE_STEP, HourlyDigest
from advisor.recommendations.redo_sizing import hour_rates, pressure_p95
from advisor.ui import quantities
from advisor.ui.period import Period
from collector.models import Server
from collector.store import store
from collector.store.interface import PressureTimes

#: A figure is of the polls of the range, or of its closed hours.
SOURCES = ("polls", "hours")


@dataclass(frozen=True)
class Samples:
    """``times`` are of all polls of the range, or added up over ``hours`` where the figure is of hours."""

    times: PressureTimes
    hours: Sequence[HourlyDigest]
    of: str

    def document(self, period: Period) -> dict[str, Any]:
        """The same as data: seconds, bytes, unix seconds; a cell of the histogram is ``step`` of the limit wide."""
        return {
            "from": round(period.started * 1000),
            "to": round(period.ended * 1000),
            "step": PRESSURE_STEP,
            "histogram": list(self.times.histogram),
            "above_async_seconds": self.times.above_async_seconds,
            "at_limit_seconds": self.times.at_limit_seconds,
            "hours": [
                {
                    "hour_at": one.hour_at,
                    "seconds": one.seconds,
                    "redo_written_bytes": one.redo_written_bytes,
                    "busiest_minute_bytes": one.busiest_minute_bytes,
                    "at_limit_seconds": one.seconds_at_limit,
                }
                for one in self.hours
            ],
        }


@dataclass(frozen=True)
class Made:
    """A figure made again, and a sentence on how."""

    figure: str
    sentence: str


def read(server: Server, period: Period, parameters: Mapping[str, str]) -> Samples:
    """The samples that the address names."""
    of = parameters.get("of", "") if parameters.get("of", "") in SOURCES else SOURCES[0]
    if of == "polls":
        return Samples(store().pressure_times(server.pk, period.started, period.ended), (), of)
    zone = timezone.get_current_timezone()

    def wanted(digest: HourlyDigest) -> bool:
        local = datetime.fromtimestamp(digest.hour_at, zone)
        asked = (parameters.get("weekday", ""), parameters.get("hour", ""))
        return all(text in ("", str(value)) for text, value in zip(asked, (local.weekday(), local.hour), strict=True))

    hours = [one for one in store().digests(server.pk, period.started, period.ended) if wanted(one)]
    return Samples(times_of(hours), hours, of)


def times_of(hours: Sequence[HourlyDigest]) -> PressureTimes:
    """The times of these hours together."""
    cells = zip(*(one.pressure_histogram for one in hours), strict=True)
    return PressureTimes(
        tuple(sum(cell) for cell in cells),
        sum(one.seconds_above_async for one in hours),
        sum(one.seconds_at_limit for one in hours),
    )


def made(found: Samples, how: str) -> Made | None:
    """None where ``how`` is no word of this page, or nothing is left to make the figure of."""
    words, figure = _sentences().get(how), _FIGURES.get(how)
    if words is None or figure is None:
        return None
    enough = hour_rates(found.hours) if how in _OF_HOURS else found.times.seconds
    return Made(figure(found) if enough else quantities.NOTHING, words)


_OF_HOURS = ("median-of-hours", "p95-of-hours", "most-of-hours")
_FIGURES: dict[str, Callable[[Samples], str]] = {
    "p95-of-histogram": lambda found: quantities.percent(pressure_p95(found.times)),
    "share-above-async": lambda found: quantities.percent(found.times.above_async_seconds / found.times.seconds),
    "share-at-limit": lambda found: quantities.percent(found.times.at_limit_seconds / found.times.seconds),
    "hours-a-week-at-limit": lambda found: (
        quantities.number(round(found.times.at_limit_seconds / found.times.seconds * WEEK / HOUR, 1))
        + " "
        + _("h/week")
    ),
    "seconds-at-limit": lambda found: quantities.duration(found.times.at_limit_seconds),
    "median-of-hours": lambda found: quantities.size(percentile(hour_rates(found.hours), 0.5)),
    "p95-of-hours": lambda found: quantities.size(percentile(hour_rates(found.hours), 0.95)),
    "most-of-hours": lambda found: quantities.size(max(hour_rates(found.hours))),
}


def _sentences() -> dict[str, str]:
    return {
        "p95-of-histogram": _(
            "95 %% of the time in the cells below is at or below the middle of this one; at least 99 %% where writers "
            "waited for more than a twentieth of it, and never more than the limit."
        )
        % {},
        "share-above-async": _("The seconds at or above the async point, by all seconds with a known pressure."),
        "share-at-limit": _("The seconds at the limit, by all seconds with a known pressure."),
        "hours-a-week-at-limit": _("The share of the time at the limit, as hours of a week of 168."),
        "seconds-at-limit": _("The seconds at the limit, added up."),
        "median-of-hours": _("The median of the redo written in the whole hours below, each as of 3,600 seconds."),
        "p95-of-hours": _("95 %% of the whole hours below wrote at most this, each as of 3,600 seconds.") % {},
        "most-of-hours": _("The most of the whole hours below, as of 3,600 seconds."),
    }


def cells(times: PressureTimes) -> list[dict[str, Any]]:
    """The cells that hold any time, as rows of a table."""
    total = times.seconds
    return [
        {
            "low": quantities.percent(place * PRESSURE_STEP),
            "high": quantities.percent((place + 1) * PRESSURE_STEP),
            "last": place == len(times.histogram) - 1,
            "seconds": seconds,
            "share": seconds / total,
        }
        for place, seconds in enumerate(times.histogram)
        if seconds
    ]
