"""The fleet row: all that the fleet page shows of a server. It is written here alone, and the page is one query.

One word says how a server is, wherever it is shown (row, filter, counts, rail, title of the server's page, API): its
**state**. What is measured in the last minute is the **condition**; what the rules found over hours and days are
recommendations. The state is the worse of the two: a calm server with a critical recommendation is *critical*, and the
reason beside it names the recommendation instead of the present pressure, because both say the same to whoever reads:
somebody has to act. A recommendation counts while somebody still has something to do about it (open, acknowledged, in
a change); a notice changes no state. *stale* and *new* say that nothing is known now, which no older advice can
outrank. "Needs somebody" are the states critical and warning; *watch* and *calm* are told apart, *calm* alone is called
healthy. How long a server was in trouble counts the measured condition alone: advice may be days old, but nobody
waited.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from advisor.recommendations import fleet_figures, headline, vitals
from advisor.recommendations.fleet_words import group_of, words_of
from advisor.recommendations.models import NO_END, FleetRow, Recommendation
from advisor.recommendations.states import PENDING
from advisor.recommendations.verdict import SEVERITIES
from advisor.recommendations.vitals import Condition
from collector.models import Server, ServerState
from collector.store import store

#: A row is brought up to the newest poll at most this often: every other poll of the fast tier.
THROTTLE_SECONDS = 15.0
#: A worse condition is shown as long as it was so within these seconds, so that it does not flicker.
HOLD_SECONDS = 120
SPARKLINE_EVERY_SECONDS = 120
#: Nothing heard for three polls, and for a minute at least, is stale.
STALE_POLLS = 3
STALE_SECONDS = 60

#: Mildest first; what is missing here says that nothing is known.
_ORDER = (Condition.NEW, Condition.CALM, Condition.WATCH, Condition.WARNING, Condition.CRITICAL)
_RANKS = {
    Condition.CALM: 100,
    Condition.NEW: 150,
    Condition.WATCH: 300,
    Condition.STALE: 400,
    Condition.WARNING: 500,
    Condition.CRITICAL: 600,
}
#: States in which somebody has to act.
NEEDING = (Condition.CRITICAL.value, Condition.WARNING.value)

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
            "condition": Condition.NEW.value,
            "condition_since": timezone.now(),
            "sort_rank": _RANKS[Condition.NEW],
            "headline": headline.sentence(Condition.NEW, vitals=None, since=None),
            "folded": server.folded,
            "group": group_of(server.tags),
            "words": words_of(tags=server.tags, others=(server.name, server.host or server.socket)),
        },
    )
    return row


def describe(*, server: Server) -> bool:
    """Brings the copies of the server's name, tags and address up to date; whether anything changed."""
    row = FleetRow.objects.filter(pk=server.pk).first()
    if row is None:
        ensure_row(server=server)
        return True
    before = (row.folded, row.group, row.words)
    _describe(row, server)
    if (row.folded, row.group, row.words) == before:
        return False
    FleetRow.objects.filter(pk=server.pk).update(
        folded=row.folded, group=row.group, words=row.words, updated_at=timezone.now()
    )
    return True


def settle(row: FleetRow, server: Server, now: datetime) -> None:
    """Derives what a row tells of its other columns: the state, its rank, and what it is found by. Saves nothing."""
    _show(row, now)
    _describe(row, server)


def _describe(row: FleetRow, server: Server) -> None:
    said = row.headline if isinstance(row.headline, dict) else {}
    # That all is well is no reason that anybody looks for, and most servers would be found by its words.
    sentence = "" if row.condition == Condition.CALM else str(said.get("text", ""))
    trouble = (said.get("values") or {}).get("trouble", {})
    row.folded, row.group = server.folded, group_of(server.tags)
    row.words = words_of(
        tags=server.tags,
        others=(
            server.name,
            server.host or server.socket,
            row.version,
            row.role,
            row.worst_title,
            # Without its figures, which change with every poll and would write the index as often.
            sentence.replace("{", "").replace("}", ""),
            str(trouble.get("value", "")),
        ),
    )


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
        points = fleet_figures.sparkline(server_id, end)
    unwatched = fleet_figures.unwatched_hours(row, server_id, current, end)
    condition = _held(Condition(row.condition), current.condition, vitals.read(intervals, seconds=HOLD_SECONDS))
    with transaction.atomic():
        row = FleetRow.objects.select_for_update().get(pk=server_id)
        fleet_figures.count_time(row, current, condition, now, unwatched)
        _enter(row, condition, now)
        row.pressure = current.pressure
        row.async_ratio = current.async_ratio
        row.headroom_seconds = current.headroom_seconds
        row.headroom_order = _headroom_order(row)
        row.transactions_per_second = current.transactions_per_second
        row.redo_bytes_per_second = current.redo_bytes_per_second
        row.dirty_percent = current.dirty_percent
        row.newest_sample_at = datetime.fromtimestamp(current.at, UTC)
        if points is not None:
            row.sparkline, row.sparkline_at = points, now
        row.headline = headline.sentence(
            condition, vitals=current, since=row.condition_since.timestamp() if row.condition_since else None
        )
        _describe(row, server)
        row.save()


def after_judgement(*, server_id: str, version: str, role: str, flavor: str = "") -> None:
    """What a snapshot and its judgement add: who the server is and what is recommended."""
    server = Server.objects.filter(pk=server_id).first()
    if server is None:
        return
    with transaction.atomic():
        ensure_row(server=server)
        row = FleetRow.objects.select_for_update().get(pk=server_id)
        row.version, row.role, row.flavor = version[:80], role[:12], flavor[:8]
        _count(row)
        _describe(row, server)
        row.save()


def count_recommendations(*, server: Server) -> None:
    """Brings the counts and the worst recommendation up to date: call it in the transaction that changed one."""
    ensure_row(server=server)
    row = FleetRow.objects.select_for_update().get(pk=server.pk)
    _count(row)
    _describe(row, server)
    row.save()


def mark_stale(*, now: datetime | None = None) -> int:
    """Marks the rows of servers of which nothing was heard for some polls; how many changed."""
    now = now or timezone.now()
    # Of ten thousand servers nearly all were heard of: asking after each of them would be a transaction for each.
    silent = Q(fleet_row__newest_sample_at__lt=now - timedelta(seconds=STALE_SECONDS))
    never = Q(fleet_row__isnull=True) | Q(fleet_row__newest_sample_at__isnull=True)
    return sum(_mark_if_stale(server, now) for server in list(Server.objects.filter(silent | never)))


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
            entered = row.condition != Condition.STALE
            _enter(row, Condition.STALE, now)
            row.headroom_order = NO_END
        if row.headline == said and not entered:
            return False
        row.headline = said
        _describe(row, server)
        row.save()
        return True


def _held(before: Condition, current: Condition, lately: vitals.Vitals | None) -> Condition:
    """The condition to show: a worse one at once, a milder one only when the worse one is over for some minutes."""
    if before not in _ORDER or lately is None:
        return current
    if _ORDER.index(current) >= _ORDER.index(before):
        return current
    still = min(_ORDER.index(before), _ORDER.index(lately.condition))
    return _ORDER[max(still, _ORDER.index(current))]


def _enter(row: FleetRow, condition: Condition, now: datetime) -> None:
    if row.condition != condition or row.condition_since is None:
        row.condition, row.condition_since = condition.value, now
    _show(row, now)


def _show(row: FleetRow, now: datetime) -> None:
    """Sets the state from the condition and the worst recommendation: see the head of this module."""
    state = Condition(row.condition)
    advised = {"warning": Condition.WARNING, "critical": Condition.CRITICAL}.get(row.worst_severity)
    if advised is not None and state in _ORDER and state is not Condition.NEW:
        state = max(state, advised, key=_ORDER.index)
    if row.state != state or row.state_since is None:
        since = row.condition_since if state == row.condition else row.worst_since
        row.state, row.state_since = state.value, since or now
    row.sort_rank = _RANKS[state]


def _headroom_order(row: FleetRow) -> float:
    """Above the async point flushing follows the age: there a slope is no forecast, only 0 is one."""
    if row.headroom_seconds is None or (row.condition == Condition.WARNING and row.headroom_seconds > 0):
        return NO_END
    return min(row.headroom_seconds, NO_END)


def _count(row: FleetRow) -> None:
    pending = Recommendation.objects.filter(server_id=row.server_id, state__in=PENDING)
    worst = pending.order_by("-severity_rank", "opened_at", "pk").first()
    row.open_recommendations = pending.count()
    row.worst_severity = SEVERITIES[worst.severity_rank] if worst else ""
    row.worst_title = str(worst.document.get("title", ""))[:300] if worst else ""
    row.worst_words = ((worst.document.get("words") or {}).get("title") or {}) if worst else {}
    row.worst_since = worst.opened_at if worst else None
    row.worst_id = worst.pk if worst else ""
    _show(row, timezone.now())
