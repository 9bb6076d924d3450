"""Redo hour by hour: how much was written, when the pressure is highest in a week, and when writers waited."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, tzinfo

import numpy as np
from django.utils.formats import date_format

from advisor.engine.facts.redo import AT_LIMIT
from advisor.engine.statistics import percentile, weighted_percentile
from advisor.engine.units import HOUR
from advisor.mysql.digest import PRESSURE_STEP, HourlyDigest
from advisor.recommendations.redo_sizing import hour_rates
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
    """Redo written in an hour, bytes: median, 95th percentile and most, of ``hours`` whole hours."""

    p50: float
    p95: float
    most: float
    hours: int


@dataclass(frozen=True)
class Cell:
    """One hour of one weekday: the 95th percentile of the pressure and the step of its ground; None where unknown."""

    hour: int
    p95: float | None
    step: int
    waits: bool


@dataclass(frozen=True)
class Row:
    """One weekday, by its name in the reader's language."""

    name: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Episode:
    """A time in which writers waited: unix seconds, how long of it they did, and the highest pressure where known."""

    started_at: datetime
    ended_at: datetime
    seconds: float
    peak: float | None
    query: str


def written(digests: Sequence[HourlyDigest]) -> Written | None:
    """None without a whole hour."""
    rates = hour_rates(digests)
    if not rates:
        return None
    return Written(percentile(rates, 0.5), percentile(rates, 0.95), max(rates), len(rates))


def heatmap(digests: Sequence[HourlyDigest], zone: tzinfo) -> list[Row]:
    """Weekday by hour of the reader's clock, Monday first; empty where no hour is known."""
    cells: dict[tuple[int, int], list[float]] = {}
    waited: dict[tuple[int, int], float] = {}
    for digest in digests:
        if not sum(digest.pressure_histogram):
            continue
        local = datetime.fromtimestamp(digest.hour_at, zone)
        key = (local.weekday(), local.hour)
        before = cells.get(key, [0.0] * len(digest.pressure_histogram))
        cells[key] = [a + b for a, b in zip(before, digest.pressure_histogram, strict=True)]
        waited[key] = waited.get(key, 0.0) + digest.seconds_at_limit
    if not cells:
        return []
    # The first of January 2024 was a Monday.
    names = [date_format(date(2024, 1, day + 1), "D") for day in range(7)]
    return [
        Row(
            names[day],
            tuple(_cell(hour, cells.get((day, hour)), waited.get((day, hour), 0.0)) for hour in range(24)),
        )
        for day in range(7)
    ]


def _cell(hour: int, histogram: Sequence[float] | None, waited: float) -> Cell:
    if histogram is None or sum(histogram) < _LEAST_SECONDS:
        return Cell(hour, None, 0, False)
    p95 = weighted_percentile(histogram, PRESSURE_STEP, 0.95)
    waits = waited > 0.05 * sum(histogram)
    p95 = max(p95, AT_LIMIT) if waits else p95
    return Cell(hour, p95, sum(p95 >= begin for begin in _STEPS), waits)


def worst(rows: Sequence[Row]) -> tuple[str, Cell] | None:
    """The weekday and the cell with the highest pressure, for people who do not see the map."""
    found = [(row.name, cell) for row in rows for cell in row.cells if cell.p95 is not None]
    return max(found, key=lambda one: one[1].p95 or 0.0) if found else None


def episodes_of_samples(samples: Samples) -> tuple[list[Episode], int]:
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
    found = [
        _episode(
            float(samples.at[run[0]] - min(seconds[run[0]] or usual, usual)),
            float(samples.at[run[-1]]),
            float(np.minimum(seconds[run], 4 * usual).sum()),
            float(np.max(pressure[run])),
        )
        for run in runs
    ]
    found.reverse()
    return found[:_MOST_EPISODES], len(found)


def episodes_of_digests(digests: Sequence[HourlyDigest]) -> tuple[list[Episode], int]:
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
        found.append(_episode(float(run[0].hour_at), float(run[-1].hour_at + HOUR), spent, None))
    found.reverse()
    return found[:_MOST_EPISODES], len(found)


def _episode(started: float, ended: float, seconds: float, peak: float | None) -> Episode:
    around = max(ended - started, 300.0)
    return Episode(
        datetime.fromtimestamp(started, UTC),
        datetime.fromtimestamp(ended, UTC),
        seconds,
        peak,
        f"from={round((started - around) * 1000)}&to={round((ended + around) * 1000)}",
    )
