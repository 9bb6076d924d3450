"""Redo hour by hour: how much was written, when the pressure is highest in a week, and when writers waited."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, tzinfo

import numpy as np
from django.utils.formats import date_format

from advisor.engine.facts.redo import AT_LIMIT
from advisor.engine.statistics import percentile
from advisor.engine.units import HOUR
from advisor.mysql import series
from advisor.mysql.digest import HourlyDigest
from advisor.recommendations.redo_sizing import hour_rates, pressure_p95
from advisor.ui import quantities
from advisor.web.figure_links import LONGEST_SECONDS, RedoFigures, of_samples
from advisor.web.redo_samples import times_of
from advisor.whatif.history import Samples

#: Steps of the heatmap's ground, and the pressures they begin at: the last one is where writers wait.
_STEPS = (0.0, 0.15, 0.35, 0.55, 0.75, 0.875, 1.0)
#: A cell rests on at least this much of its hours.
_LEAST_SECONDS = 600
_MOST_EPISODES = 20
#: A pause shorter than this between two times at the limit does not end an episode.
_PAUSE_SECONDS = 60


@dataclass(frozen=True)
class Written:
    """Redo written in an hour: median, 95th percentile and most, as links to the ``hours`` whole hours behind them."""

    p50: str
    p95: str
    most: str
    hours: int


@dataclass(frozen=True)
class Cell:
    """One hour of one weekday: the 95th percentile of the pressure and the step of its ground; None where unknown.
    ``link`` is the figure in percent as a link to the hours behind it.
    """

    hour: int
    p95: float | None
    step: int
    waits: bool
    link: str = ""
    share: str = ""


@dataclass(frozen=True)
class Row:
    """One weekday, by its name in the reader's language."""

    name: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Episode:
    """A time in which writers waited: how long of it they did, and the highest pressure where known; as links to the
    samples of it, but for one so long that they no longer stand one by one.
    """

    started_at: datetime
    ended_at: datetime
    seconds: str
    peak: str
    query: str


def written(digests: Sequence[HourlyDigest], figures: RedoFigures) -> Written | None:
    """None without a whole hour."""
    rates = hour_rates(digests)
    if not rates:
        return None

    def told(value: float, how: str) -> str:
        return figures.of_hours(quantities.size(value), value, how)

    return Written(
        told(percentile(rates, 0.5), "median-of-hours"),
        told(percentile(rates, 0.95), "p95-of-hours"),
        told(max(rates), "most-of-hours"),
        len(rates),
    )


def heatmap(digests: Sequence[HourlyDigest], zone: tzinfo, figures: RedoFigures) -> list[Row]:
    """Weekday by hour of the reader's clock, Monday first; empty where no hour is known."""
    hours: dict[tuple[int, int], list[HourlyDigest]] = {}
    for digest in digests:
        local = datetime.fromtimestamp(digest.hour_at, zone)
        hours.setdefault((local.weekday(), local.hour), []).append(digest)
    if not any(sum(digest.pressure_histogram) for digest in digests):
        return []
    # The first of January 2024 was a Monday.
    names = [date_format(date(2024, 1, day + 1), "D") for day in range(7)]
    return [
        Row(
            names[day],
            tuple(_cell(day, hour, hours.get((day, hour), []), figures) for hour in range(24)),
        )
        for day in range(7)
    ]


def _cell(day: int, hour: int, digests: Sequence[HourlyDigest], figures: RedoFigures) -> Cell:
    times = times_of(digests)
    if times.seconds < _LEAST_SECONDS:
        return Cell(hour, None, 0, False)
    p95 = pressure_p95(times)
    waits = times.at_limit_seconds > 0.05 * times.seconds
    share = quantities.percent(round(p95, 2))

    def link(text: str) -> str:
        return figures.of_hours(text, p95, "p95-of-histogram", weekday=day, hour=hour)

    # The head of the table has the unit.
    shown = link("×" if waits else share.removesuffix(" %"))
    return Cell(hour, p95, sum(p95 >= begin for begin in _STEPS), waits, shown, link(share))


def worst(rows: Sequence[Row]) -> tuple[str, Cell] | None:
    """The weekday and the cell with the highest pressure, for people who do not see the map."""
    found = [(row.name, cell) for row in rows for cell in row.cells if cell.p95 is not None]
    return max(found, key=lambda one: one[1].p95 or 0.0) if found else None


def episodes_of_samples(samples: Samples, server_id: str) -> tuple[list[Episode], int]:
    """Times at the limit, the newest first and at most twenty of them, and how many there were."""
    with np.errstate(invalid="ignore", divide="ignore"):
        pressure = samples.age / samples.limit
    seconds = np.diff(samples.at, prepend=samples.at[:1])
    usual = float(np.median(seconds[1:])) if seconds.size > 1 else 10.0
    runs: list[list[int]] = []
    for index in np.flatnonzero(pressure >= AT_LIMIT).tolist():
        if runs and samples.at[index] - samples.at[runs[-1][-1]] <= _PAUSE_SECONDS + usual:
            runs[-1].append(index)
        else:
            runs.append([index])
    found = []
    for run in runs:
        began = float(samples.at[run[0]] - min(seconds[run[0]] or usual, usual))
        ended = float(samples.at[run[-1]])
        spent = float(np.minimum(seconds[run], 4 * usual).sum())
        peak = float(np.max(pressure[run]))
        # The poll before it tells how long the first one of it counts. No page shows less than a minute, and what lies
        # so shortly before an episode is below the limit, or it would belong to it.
        bounds = (min(began - 1, ended - _PAUSE_SECONDS), ended + usual - 0.1)

        def told(text: str, value: float, how: str, bounds: tuple[float, float] = bounds) -> str:
            if bounds[1] - bounds[0] > LONGEST_SECONDS:
                return text
            return of_samples(server_id, text, value, names=series.PRESSURE, how=how, bounds=bounds)

        found.append(
            _episode(
                began,
                ended,
                told(quantities.duration(spent), spent, "seconds-at-limit"),
                told(quantities.percent(peak), peak, "greatest"),
            )
        )
    found.reverse()
    return found[:_MOST_EPISODES], len(found)


def episodes_of_digests(digests: Sequence[HourlyDigest], server_id: str) -> tuple[list[Episode], int]:
    """The hours in which writers waited; hours that follow each other are one episode."""
    found: list[Episode] = []
    runs: list[list[HourlyDigest]] = []
    for digest in digests:
        if digest.seconds_at_limit <= 0:
            continue
        if runs and digest.hour_at == runs[-1][-1].hour_at + HOUR:
            runs[-1].append(digest)
        else:
            runs.append([digest])
    for run in runs:
        spent = sum(one.seconds_at_limit for one in run)
        began, ended = float(run[0].hour_at), float(run[-1].hour_at + HOUR)
        figures = RedoFigures(server_id, began, ended)
        link = figures.of_hours(quantities.duration(spent), spent, "seconds-at-limit")
        found.append(_episode(began, ended, link, quantities.NOTHING))
    found.reverse()
    return found[:_MOST_EPISODES], len(found)


def _episode(started: float, ended: float, seconds: str, peak: str) -> Episode:
    around = max(ended - started, 300.0)
    return Episode(
        datetime.fromtimestamp(started, UTC),
        datetime.fromtimestamp(ended, UTC),
        seconds,
        peak,
        f"from={round((started - around) * 1000)}&to={round((ended + around) * 1000)}",
    )
