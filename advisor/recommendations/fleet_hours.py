"""The last 24 hours of a server, an entry for each hour: how long it was in trouble, and how far the pressure went.

Pure arithmetic over ``FleetRow.hours``: entries ``[hour_at, warning seconds, critical seconds, highest pressure]``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from advisor.engine.evidence import LOADED_BYTES_PER_SECOND
from advisor.mysql.digest import PRESSURE_STEP, HourlyDigest
from advisor.recommendations.vitals import Condition

HOUR = 3600
#: Hours that are told, the one that goes on included.
HOURS = 24
#: Redo written in an hour below which a high age harms nobody: as much as an hour writes that is loaded throughout.
_LOADED_BYTES = LOADED_BYTES_PER_SECOND * HOUR

Entry = list[float]


def hour_of(at: float) -> int:
    """The unix second at which the hour of an instant began."""
    return int(at) // HOUR * HOUR


def kept(hours: Iterable[Sequence[float]], at: float) -> list[Entry]:
    """The entries that are still of the last 24 hours."""
    first = hour_of(at) - (HOURS - 1) * HOUR
    return [list(one) for one in hours if one[0] >= first]


def credited(
    hours: Iterable[Sequence[float]], *, at: float, seconds: float, condition: Condition, pressure: float | None
) -> list[Entry]:
    """The hours after ``seconds`` more in a condition, up to ``at`` (unix seconds)."""
    found = kept(hours, at)
    if not found or found[-1][0] != hour_of(at):
        found.append([hour_of(at), 0, 0, 0.0])
    entry = found[-1]
    # What began before the full hour is credited to the hour in which it was seen: seconds matter less than the sum.
    if condition is Condition.WARNING:
        entry[1] = min(round(entry[1] + seconds), HOUR)
    elif condition is Condition.CRITICAL:
        entry[2] = min(round(entry[2] + seconds), HOUR)
    entry[3] = round(max(entry[3], pressure or 0.0), 3)
    return found


def filled(hours: Iterable[Sequence[float]], told: Iterable[Entry], *, at: float) -> list[Entry]:
    """The hours with those that nobody watched taken from what the history tells of them."""
    known = {int(one[0]): one for one in told} | {int(one[0]): one for one in kept(hours, at)}
    return kept([known[hour] for hour in sorted(known)], at)


def told_by_digest(digest: HourlyDigest, warning_begins: float | None) -> Entry:
    """An hour that is over. ``warning_begins``: the pressure from which on a loaded server is in warning."""
    return told(
        digest.hour_at,
        digest.pressure_histogram,
        digest.seconds_at_limit,
        warning_begins,
        loaded=digest.redo_written_bytes >= _LOADED_BYTES,
    )


def told(
    hour_at: int, histogram: Sequence[float], at_limit: float, warning_begins: float | None, *, loaded: bool
) -> Entry:
    """The entry of an hour by its seconds at each pressure (cells as in ``HourlyDigest``) and at the limit."""
    highest = max((cell for cell, seconds in enumerate(histogram) if seconds), default=0) * PRESSURE_STEP
    warning = critical = 0.0
    if loaded:
        critical = at_limit
        if warning_begins is not None:
            warning = max(sum(histogram[int(warning_begins / PRESSURE_STEP + 0.5) :]) - critical, 0.0)
    if at_limit:
        highest = max(highest, 1.0)
    return [hour_at, round(warning), round(critical), round(highest, 3)]


def trouble_seconds(hours: Iterable[Sequence[float]]) -> int:
    """For how long the server was in warning or worse."""
    return round(sum(one[1] + one[2] for one in hours))
