"""The fleet row: all that the fleet page shows of a server. It is written here alone, and the page is one query."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from advisor.mysql import series
from advisor.recommendations import headline, vitals
from advisor.recommendations.models import FleetRow, Recommendation
from advisor.recommendations.states import PENDING
from advisor.recommendations.verdict import SEVERITIES
from advisor.recommendations.vitals import Condition
from collector.models import Server, ServerState
from collector.store import store

#: A row is brought up to the newest poll at most this often: every other poll of the fast tier.
THROTTLE_SECONDS = 15.0
#: A worse condition is shown as long as it was so within these seconds, so that it does not flicker.
HOLD_SECONDS = 120
SPARKLINE_SECONDS = 6 * 3600
SPARKLINE_POINTS = 48
SPARKLINE_EVERY_SECONDS = 120
#: Nothing heard for three polls, and for a minute at least, is stale.
STALE_POLLS = 3
STALE_SECONDS = 60

_SEVERITY_ORDER = (Condition.NEW, Condition.CALM, Condition.WATCH, Condition.WARNING, Condition.CRITICAL)
_RANKS = {
    Condition.CALM: 100,
    Condition.NEW: 150,
    Condition.WATCH: 300,
    Condition.STALE: 400,
    Condition.WARNING: 500,
    Condition.CRITICAL: 600,
}
_SEVERITY_RANKS = {"": 0, "notice": 10, "warning": 120, "critical": 250}

# When this process wrote a server's row last, by its own monotonic clock.
_written: dict[str, float] = {}


def ensure_row(*, server: Server) -> FleetRow:
    """The server's row, made where there is none: a server shows from the moment it is registered."""
    row, _ = FleetRow.objects.get_or_create(
        server=server,
        defaults={
            "team_id": server.team_id,
            "state": Condition.NEW.value,
            "state_since": timezone.now(),
            "sort_rank": _RANKS[Condition.NEW],
            "headline": headline.sentence(Condition.NEW, vitals=None, since=None),
        },
    )
    return row


def after_poll(*, server_id: str) -> bool:
    """Brings the row up to the newest poll, unless this process did so a moment ago; whether it did now."""
    now = time.monotonic()
    if now - _written.get(server_id, -THROTTLE_SECONDS) < THROTTLE_SECONDS:
        return False
    _written[server_id] = now
    refresh(server_id=server_id, now=timezone.now())
    return True


def after_failure(*, server_id: str) -> None:
    """Says why a server cannot be read, once it is stale or was never read."""
    server = Server.objects.filter(pk=server_id).first()
    if server is not None:
        _mark_if_stale(server, timezone.now())


def refresh(*, server_id: str, now: datetime) -> None:
    """Writes the figures, condition and headline of the last minutes."""
    server = Server.objects.filter(pk=server_id).first()
    if server is None:
        return
    end = now.timestamp()
    intervals = store().intervals(server_id, end - HOLD_SECONDS - 30, end + 1)
    current = vitals.read(intervals)
    row = ensure_row(server=server)
    if current is None:
        return
    points = None
    if row.sparkline_at is None or (now - row.sparkline_at).total_seconds() >= SPARKLINE_EVERY_SECONDS:
        points = _sparkline(server_id, end)
    condition = _held(Condition(row.state), current.condition, vitals.read(intervals, seconds=HOLD_SECONDS))
    with transaction.atomic():
        row = FleetRow.objects.select_for_update().get(pk=server_id)
        _enter(row, condition, now)
        row.pressure = current.pressure
        row.async_ratio = current.async_ratio
        row.headroom_seconds = current.headroom_seconds
        row.transactions_per_second = current.transactions_per_second
        row.redo_bytes_per_second = current.redo_bytes_per_second
        row.dirty_percent = current.dirty_percent
        row.newest_sample_at = datetime.fromtimestamp(current.at, UTC)
        if points is not None:
            row.sparkline, row.sparkline_at = points, now
        row.headline = headline.sentence(
            condition, vitals=current, since=row.state_since.timestamp() if row.state_since else None
        )
        row.save()


def after_judgement(*, server_id: str, version: str, role: str) -> None:
    """What a snapshot and its judgement add: who the server is and what is recommended."""
    server = Server.objects.filter(pk=server_id).first()
    if server is None:
        return
    with transaction.atomic():
        ensure_row(server=server)
        row = FleetRow.objects.select_for_update().get(pk=server_id)
        row.version, row.role = version[:80], role[:12]
        _count(row)
        row.save()


def count_recommendations(*, server: Server) -> None:
    """Brings the counts and the worst recommendation up to date: call it in the transaction that changed one."""
    ensure_row(server=server)
    row = FleetRow.objects.select_for_update().get(pk=server.pk)
    _count(row)
    row.save()


def mark_stale(*, now: datetime | None = None) -> int:
    """Marks the rows of servers of which nothing was heard for some polls; how many changed."""
    now = now or timezone.now()
    return sum(_mark_if_stale(server, now) for server in Server.objects.all().iterator())


def _mark_if_stale(server: Server, now: datetime) -> bool:
    state = ServerState.objects.filter(server=server).first()
    trouble = "" if state is None else state.error
    if not server.enabled:
        trouble = "watching it is switched off."
    with transaction.atomic():
        ensure_row(server=server)
        row = FleetRow.objects.select_for_update().get(pk=server.pk)
        entered = False
        if row.newest_sample_at is None:
            said = headline.sentence(Condition.NEW, vitals=None, since=None, trouble=trouble)
        else:
            silent = (now - row.newest_sample_at).total_seconds()
            if silent < max(STALE_SECONDS, STALE_POLLS * server.fast_interval_seconds):
                return False
            said = headline.sentence(
                Condition.STALE,
                vitals=None,
                since=None,
                newest_sample_at=row.newest_sample_at.timestamp(),
                trouble=trouble,
            )
            entered = row.state != Condition.STALE
            _enter(row, Condition.STALE, now)
        if row.headline == said and not entered:
            return False
        row.headline = said
        row.save()
        return True


def _held(before: Condition, current: Condition, lately: vitals.Vitals | None) -> Condition:
    """The condition to show: a worse one at once, a milder one only when the worse one is over for some minutes."""
    if before not in _SEVERITY_ORDER or lately is None:
        return current
    if _SEVERITY_ORDER.index(current) >= _SEVERITY_ORDER.index(before):
        return current
    still = min(_SEVERITY_ORDER.index(before), _SEVERITY_ORDER.index(lately.condition))
    return _SEVERITY_ORDER[max(still, _SEVERITY_ORDER.index(current))]


def _enter(row: FleetRow, condition: Condition, now: datetime) -> None:
    if row.state != condition or row.state_since is None:
        row.state, row.state_since = condition.value, now
    row.sort_rank = _rank(row)


def _rank(row: FleetRow) -> int:
    return _RANKS[Condition(row.state)] + _SEVERITY_RANKS.get(row.worst_severity, 0)


def _count(row: FleetRow) -> None:
    pending = Recommendation.objects.filter(server_id=row.server_id, state__in=PENDING)
    worst = pending.order_by("-severity_rank", "opened_at", "pk").first()
    row.open_recommendations = pending.count()
    row.worst_severity = SEVERITIES[worst.severity_rank] if worst else ""
    row.worst_title = str(worst.document.get("title", ""))[:300] if worst else ""
    row.worst_id = worst.pk if worst else ""
    row.sort_rank = _rank(row)


def _sparkline(server_id: str, end: float) -> list[float | None]:
    """Transactions per second over six hours on a fixed grid, oldest first; None where nothing is known."""
    start = end - SPARKLINE_SECONDS
    step = SPARKLINE_SECONDS / SPARKLINE_POINTS
    buckets = store().buckets(server_id, [series.TRANSACTIONS], start, end, SPARKLINE_POINTS)
    line: list[float | None] = [None] * SPARKLINE_POINTS
    points: Sequence[Any] = buckets.points(series.TRANSACTIONS)
    for point in points:
        if point is None:
            continue
        cell = int((point[0] / 1000 - start) // step)
        line[min(max(cell, 0), SPARKLINE_POINTS - 1)] = round(float(point[3]), 3)
    return line
