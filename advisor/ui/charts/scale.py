"""From values to places: round ticks for amounts, bytes and time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime, timedelta, tzinfo

from advisor.engine.units import DAY, HOUR, MINUTE

_TIME_STEPS = (
    5, 10, 15, 30, MINUTE, 2 * MINUTE, 3 * MINUTE, 5 * MINUTE, 10 * MINUTE, 15 * MINUTE, 30 * MINUTE,
    HOUR, 2 * HOUR, 3 * HOUR, 4 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 2 * DAY, 5 * DAY, 7 * DAY, 14 * DAY, 30 * DAY,
)  # fmt: skip


def round_step(span: float, count: int, base: int = 10) -> float:
    """The smallest round step that divides ``span`` into at most ``count`` parts: 1, 2, 2.5 or 5 times a power of ten;
    with base 1024 a power of two, so that axes of bytes show round binary amounts. 1 where there is nothing to divide.
    """
    if span <= 0 or not math.isfinite(span):
        return 1.0
    raw = span / max(count, 1)
    if base == 1024:
        return float(2 ** math.ceil(math.log2(raw))) if raw > 1 else 1.0
    power = 10.0 ** math.floor(math.log10(raw))
    return next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= raw * (1 - 1e-9))


def amount_ticks(top: float, count: int, base: int = 10) -> list[float]:
    """Round values from zero to the first one that is not below ``top``: the last one is the axis' end."""
    step = round_step(top, count, base)
    return [step * i for i in range(max(math.ceil(top / step - 1e-9), 1) + 1)]


def time_step(seconds: float, count: int) -> int:
    """The smallest usual step of a clock that divides the time into at most ``count`` parts."""
    return next((step for step in _TIME_STEPS if seconds / step <= count), _TIME_STEPS[-1])


def time_ticks(started: float, ended: float, zone: tzinfo, count: int = 7) -> list[tuple[float, str]]:
    """(unix milliseconds, label) at round times of the reader's clock. ``started`` and ``ended`` are unix
    milliseconds.
    """
    seconds = max((ended - started) / 1000, 1)
    step = time_step(seconds, count)
    first = datetime.fromtimestamp(started / 1000, zone)
    midnight = first.replace(hour=0, minute=0, second=0, microsecond=0)
    begin = midnight + timedelta(seconds=math.ceil((first - midnight).total_seconds() / step) * step)
    ticks: list[tuple[float, str]] = []
    for i in range(int(seconds // step) + 2):
        # Going through wall-clock time keeps midnights at midnight when the zone changes its offset.
        at = begin + timedelta(seconds=i * step)
        place = at.timestamp() * 1000
        if started <= place <= ended:
            ticks.append((place, _time_label(at, step)))
    return ticks


def _time_label(at: datetime, step: int) -> str:
    if step >= DAY:
        return f"{at:%m-%d}"
    if step < MINUTE:
        return f"{at:%H:%M:%S}"
    if step >= 2 * HOUR and at.hour == 0:
        return f"{at:%m-%d}"
    return f"{at:%H:%M}"


def spread(wanted: Sequence[float], distance: float, low: float, high: float) -> list[float]:
    """Places near the wanted ones (ascending) that are at least ``distance`` apart and within the bounds where they
    fit.
    """
    places: list[float] = []
    for place in wanted:
        places.append(max(place, places[-1] + distance) if places else max(place, low))
    over = (places[-1] - high) if places else 0
    if over > 0:
        places[-1] -= over
        for i in range(len(places) - 2, -1, -1):
            places[i] = min(places[i], places[i + 1] - distance)
    return places
