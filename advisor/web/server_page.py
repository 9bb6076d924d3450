"""What the server page shows, gathered from the rooms that own it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.core.exceptions import ObjectDoesNotExist
from django.db.models import Count, Max, Q
from django.utils import timezone
from django.utils.translation import gettext as _

from advisor.journal.models import Event
from advisor.mysql.snapshot import ProbeResult, ProbeState, Snapshot
from advisor.recommendations.models import FleetRow, Judgement, Recommendation, State
from advisor.recommendations.vitals import Condition
from advisor.teams import access
from advisor.ui import quantities
from advisor.ui.htmx import tag_of
from advisor.ui.period import Period
from advisor.web import addresses, happenings, server_charts
from advisor.web.charts import reading
from collector.models import OpenSample, Server, ServerState

#: What each kind of failure asks of whom: the team itself, whoever runs the server, or nobody.
_YOURS = frozenset(
    {"wrong-password", "password-expired", "host-not-allowed", "address-denied", "denied", "bad-target", "name-unknown"}
    | {"tls-missing", "tls-untrusted", "not-a-server", "hostile"}
)
_OURS = frozenset({"wrong-driver", "out-of-resources"})


@dataclass(frozen=True)
class Watched:
    """A server with all that is kept beside it, each as it was at one instant. ``row`` is unsaved where there is none
    yet; the judgement's outcomes are read when they are asked for.
    """

    server: Server
    may: access.Access
    row: FleetRow
    watching: ServerState | None
    judgement: Judgement | None


def find(user: access.Person, server_id: str) -> Watched:
    """Raises Http404 for outsiders."""
    rows = access.servers_for(user).select_related("fleet_row", "state", "judgement").defer("judgement__outcomes")
    server, may = access.get_visible(user, rows, server_id)

    def beside(name: str) -> Any:
        try:
            return getattr(server, name)
        except ObjectDoesNotExist:
            return None

    row = beside("fleet_row") or FleetRow(server=server, team_id=server.team_id)
    return Watched(server, may, row, beside("state"), beside("judgement"))


def freshness(server: Server, row: FleetRow) -> str:
    """How the age of the newest sample is to be taken: live, old after three missed polls, stale after twelve."""
    if row.newest_sample_at is None:
        return "old"
    missed = (timezone.now() - row.newest_sample_at).total_seconds() / server.fast_interval_seconds
    return "stale" if missed > 12 else "old" if missed > 3 else "live"


@dataclass(frozen=True)
class Moved:
    """The instants at which what the page is drawn from moved last, and how many recommendations are over."""

    newest: int | None
    decided: tuple[Any, ...]
    resolved: int


def moved(server: Server) -> Moved:
    newest = OpenSample.objects.filter(server=server).aggregate(newest=Max("slot"))["newest"]
    found = Recommendation.objects.filter(server=server).aggregate(
        seen=Max("last_seen_at"),
        decided=Max("decided_at"),
        ended=Max("resolved_at"),
        resolved=Count("pk", filter=Q(state=State.RESOLVED)),
    )
    return Moved(newest, (found["seen"], found["decided"], found["ended"]), found["resolved"])


def tag(watched: Watched, last: Moved, period: Period, reader: Sequence[object]) -> str:
    """The entity tag of the page's living part: whatever it is drawn from moves one of these."""
    row, judgement = watched.row, watched.judgement
    # While nothing new is stored, the right edge of a moving range still moves: once in a while is enough for that.
    edge = int(period.ended // max(period.seconds / 120, 30)) if period.moves else period.ended
    judged = judgement.judged_at if judgement is not None else None
    error = watched.watching.error if watched.watching is not None else ""
    return tag_of(
        row.server_id, last.newest, judged, last.decided, row.updated_at, row.state, error, period.query, edge, *reader
    )  # fmt: skip


def charts_of(
    server: Server, period: Period, *, points: int = server_charts.POINTS, events: Sequence[Event] | None = None
) -> tuple[server_charts.ServerCharts, Snapshot | None]:
    """All charts of the range, with what happened in it, from ``events`` where these were read already."""
    return reading.read(server, period, happenings.read(server, period, events), points=points)


@dataclass(frozen=True)
class Trouble:
    """Why a server cannot be read: since when, what, and whose move it is. ``retry_at`` is when it is tried again."""

    since: datetime | None
    sentence: str
    move: str
    retry_at: datetime | None


def trouble_of(watched: Watched) -> Trouble | None:
    """None for a server that is read, and for one that nobody wants to be read."""
    state = watched.watching
    if state is None or not state.error or not watched.server.enabled:
        return None
    if state.error_kind in _YOURS:
        move = _("Your move: it stays so until the account, the address or the certificate is put right.")
    elif state.error_kind in _OURS:
        move = _("The move of whoever runs Tidemark: the server itself is not asked.")
    else:
        move = _("Nobody has to move: it is tried again by itself. If it lasts, look at the server and the way to it.")
    retry = datetime.fromtimestamp(state.retry_at, UTC) if state.retry_at else None
    return Trouble(state.error_since, state.error, move, retry)


def last_hour(row: FleetRow) -> str:
    """Where a stale server's charts show something: the hour up to its newest sample. Empty for others."""
    if row.condition != Condition.STALE or row.newest_sample_at is None:
        return ""
    ended = addresses.milliseconds(row.newest_sample_at) + 1000
    return f"?from={ended - 3_600_000}&to={ended}"


def unreadable(snapshot: Snapshot | None) -> list[ProbeResult]:
    """The sources that the newest snapshot could not read although something would change that."""
    if snapshot is None:
        return []
    return [one for one in snapshot.probes if one.state is ProbeState.FAILED and one.remedy is not None]


def identity_facts(server: Server, row: FleetRow, snapshot: Snapshot | None) -> list[str]:
    """What stands beside the name: version, role, machine, uptime."""
    facts = [row.version] if row.version else []
    if snapshot is not None:
        role = snapshot.identity.role
        if role in ("source", "replica"):
            facts.append(_("source") if role == "source" else _("replica"))
    facts += host_words(server)
    if snapshot is not None:
        age = max(timezone.now().timestamp() - snapshot.taken_at, 0)
        facts.append(_("up %(time)s") % {"time": quantities.duration(round(snapshot.uptime_seconds + age))})
    return facts


def host_words(server: Server) -> list[str]:
    """Host facts that are known; what is unknown is left out here and said where it matters."""
    facts = server.host_facts if isinstance(server.host_facts, dict) else {}

    def value(name: str) -> Any:
        entry = facts.get(name)
        return entry.get("value") if isinstance(entry, dict) else None

    words = []
    if isinstance(value("cpus"), int):
        words.append(_("%(n)s CPU") % {"n": value("cpus")})
    if isinstance(value("memory_bytes"), int):
        words.append(quantities.size(value("memory_bytes")))
    return words
