"""Figures of the fleet row that are read from the history: the day behind it and the line of the last six hours."""

from __future__ import annotations

from datetime import datetime

from advisor.mysql import series
from advisor.recommendations import fleet_hours, vitals
from advisor.recommendations.models import FleetRow
from advisor.recommendations.vitals import Condition
from collector.store import store

SPARKLINE_SECONDS = 6 * 3600
SPARKLINE_POINTS = 48
#: A longer time between two polls is a gap, and what it hid is not known.
_LONGEST_CREDIT_SECONDS = 120


def count_time(
    row: FleetRow,
    current: vitals.Vitals,
    condition: Condition,
    now: datetime,
    unwatched: list[fleet_hours.Entry] | None,
) -> None:
    """Credits the time since the row was written last to the condition that holds now."""
    end = now.timestamp()
    newest = row.newest_sample_at.timestamp() if row.newest_sample_at else current.at
    seconds = min(max(current.at - newest, 0.0), _LONGEST_CREDIT_SECONDS)
    hours = row.hours if isinstance(row.hours, list) else []
    if unwatched is not None:
        hours = fleet_hours.filled(hours, unwatched, at=end)
        row.hours_filled_at = fleet_hours.hour_of(end)
    row.hours = fleet_hours.credited(
        hours, at=end, seconds=seconds, condition=condition, pressure=current.highest if current.loaded else None
    )
    row.trouble_seconds = fleet_hours.trouble_seconds(row.hours)


def unwatched_hours(
    row: FleetRow, server_id: str, current: vitals.Vitals, end: float
) -> list[fleet_hours.Entry] | None:
    """What the history tells of the last day, read once in an hour; None where it was read in this one.

    Of the hour that goes on it tells, too: who was not there at its beginning would have missed it.
    """
    hour, begins = fleet_hours.hour_of(end), current.warning_begins
    if row.hours_filled_at == hour:
        return None
    first = hour - (fleet_hours.HOURS - 1) * fleet_hours.HOUR
    entries = [fleet_hours.told_by_digest(one, begins) for one in store().digests(server_id, first, hour)]
    if row.hours_filled_at == 0:
        times = store().pressure_times(server_id, hour, end)
        entries.append(fleet_hours.told(hour, times.histogram, times.at_limit_seconds, begins, loaded=current.loaded))
    return entries


def sparkline(server_id: str, end: float) -> list[float | None]:
    """Transactions per second over six hours on a fixed grid, oldest first; None where nothing is known.

    The store's buckets may be wider than the grid's cells: a bucket counts for all cells that it covers.
    """
    start = end - SPARKLINE_SECONDS
    step = SPARKLINE_SECONDS / SPARKLINE_POINTS
    buckets = store().buckets(server_id, [series.TRANSACTIONS], start, end, SPARKLINE_POINTS)
    covers = max(float(buckets.step_seconds), step)
    line: list[float | None] = [None] * SPARKLINE_POINTS
    for point in buckets.points(series.TRANSACTIONS):
        if point is None:
            continue
        ended, value = point[0] / 1000, round(float(point[3]), 3)
        for cell in range(SPARKLINE_POINTS):
            # A cell is told by the bucket in whose time its middle lies.
            if ended - covers <= start + (cell + 0.5) * step <= ended + step / 2:
                line[cell] = value
    return line
