"""What the server page shows, gathered from the rooms that own it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.db.models import Max
from django.utils import timezone
from django.utils.translation import gettext as _

from advisor.journal.models import Event
from advisor.mysql.snapshot import Snapshot
from advisor.recommendations import rule_settings
from advisor.recommendations.models import FleetRow, Judgement, Recommendation, RuleSetting, State
from advisor.recommendations.states import PENDING
from advisor.ui import messages, quantities
from advisor.ui.charts.chart import Happening
from advisor.ui.htmx import tag_of
from advisor.ui.period import Period
from advisor.web import server_charts
from advisor.web.charts import reading
from collector.models import OpenSample, Server, ServerState

#: Events that stand above the charts: a letter, since colour alone says nothing.
LETTERS = {
    "server.restarted": "R",
    "server.changed": "C",
    "server.variable_changed": "C",
    "server.variables_changed": "C",
    "server.failover": "F",
    "server.identity_changed": "F",
    "recommendation.opened": "!",
    "recommendation.returned": "!",
}
_MOST_EVENTS = 60


def fleet_row(server: Server) -> FleetRow:
    """The server's row; an unsaved one for a server of which nothing was stored yet."""
    found = FleetRow.objects.filter(pk=server.pk).first()
    return found or FleetRow(server=server, team_id=server.team_id)


def freshness(server: Server, row: FleetRow) -> str:
    """How the age of the newest sample is to be taken: live, old after three missed polls, stale after twelve."""
    if row.newest_sample_at is None:
        return "old"
    missed = (timezone.now() - row.newest_sample_at).total_seconds() / server.fast_interval_seconds
    return "stale" if missed > 12 else "old" if missed > 3 else "live"


def tag(server: Server, row: FleetRow, period: Period, reader: Sequence[object]) -> str:
    """The entity tag of the page's living part: whatever it is drawn from moves one of these."""
    newest = OpenSample.objects.filter(server=server).aggregate(newest=Max("slot"))["newest"]
    judged = Judgement.objects.filter(server=server).values_list("judged_at", flat=True).first()
    decided = Recommendation.objects.filter(server=server).aggregate(
        seen=Max("last_seen_at"), decided=Max("decided_at"), resolved=Max("resolved_at")
    )
    # While nothing new is stored, the right edge of a moving range still moves: once in a while is enough for that.
    edge = int(period.ended // max(period.seconds / 120, 30)) if period.moves else period.ended
    return tag_of(server.pk, newest, judged, decided, row.updated_at, row.state, period.query, edge, *reader)


def charts_of(
    server: Server, period: Period, *, points: int = server_charts.POINTS
) -> tuple[server_charts.ServerCharts, Snapshot | None]:
    """All charts of the range, with what happened in it."""
    return reading.read(server, period, _happenings(server, period), points=points)


def _happenings(server: Server, period: Period) -> list[Happening]:
    events = Event.objects.filter(
        server_id=server.pk,
        kind__in=LETTERS,
        at__gte=datetime.fromtimestamp(period.started, UTC),
        at__lt=datetime.fromtimestamp(period.ended, UTC),
    ).order_by("-at", "-id")[:_MOST_EVENTS]
    return [Happening(event.at.timestamp() * 1000, LETTERS[event.kind], event_words(event)) for event in events]


def event_words(event: Event) -> str:
    """What happened, as a sentence for people."""
    data = event.data if isinstance(event.data, dict) else {}
    title = messages.text_of(data.get("title") or "")
    words = {
        "server.restarted": _("The server was restarted"),
        "server.added": _("The server was added"),
        "server.changed": _("The server's settings here were changed"),
        "server.inspection_requested": _("An inspection was asked for"),
        "recommendation.opened": _("Opened: %(title)s") % {"title": title},
        "recommendation.returned": _("Came back: %(title)s") % {"title": title},
        "recommendation.worsened": _("Got worse: %(title)s") % {"title": title},
        "recommendation.resolved": _("Resolved by itself: %(title)s") % {"title": title},
        "recommendation.acknowledged": _("Acknowledged: %(title)s") % {"title": title},
        "recommendation.dismissed": _("Dismissed: %(title)s") % {"title": title},
        "recommendation.reopened": _("Opened again by hand: %(title)s") % {"title": title},
    }
    if event.kind == "recommendation.resolved" and data.get("why") == "switched_off":
        return _("Closed, since its rule was switched off: %(title)s") % {"title": title}
    return words.get(event.kind, event.kind.replace(".", " ").replace("_", " "))


@dataclass(frozen=True)
class Advice:
    """The recommendations card: what is open, what was put aside, and what every other rule said."""

    pending: list[Recommendation]
    dismissed: list[Recommendation]
    applied: list[Recommendation]
    resolved: int
    passed: int
    not_applicable: int
    not_evaluated: list[dict[str, Any]]
    judged: bool
    remedies: list[dict[str, str]]
    own_rules: list[RuleSetting]


def advice(server: Server) -> Advice:
    """From the living recommendations and the newest judgement."""
    rows = list(Recommendation.objects.filter(server=server).exclude(state=State.RESOLVED))
    judgement = Judgement.objects.filter(server=server).first()
    outcomes: list[dict[str, Any]] = judgement.outcomes if judgement is not None else []
    unknown = [one for one in outcomes if one.get("outcome") == "not_evaluated"]
    remedies: dict[tuple[str, str], dict[str, str]] = {}
    for one in unknown:
        for missing in one.get("missing", ()):
            remedies.setdefault((missing.get("kind", ""), missing.get("remedy", "")), missing)
    # What a person can do comes before what only needs waiting.
    order = {"grant": 0, "enable": 1, "host_fact": 2, "version": 3, "window": 4}
    return Advice(
        pending=[row for row in rows if row.state in PENDING],
        dismissed=[row for row in rows if row.state == State.DISMISSED],
        applied=[row for row in rows if row.state == State.APPLIED],
        resolved=Recommendation.objects.filter(server=server, state=State.RESOLVED).count(),
        passed=sum(one.get("outcome") == "passed" for one in outcomes),
        not_applicable=sum(one.get("outcome") == "not_applicable" for one in outcomes),
        not_evaluated=unknown,
        judged=judgement is not None,
        remedies=sorted(remedies.values(), key=lambda one: order.get(one.get("kind", ""), 9)),
        own_rules=list(rule_settings.effective(server).settings.values()),
    )


def state_of(server: Server) -> ServerState | None:
    """How watching it goes."""
    return ServerState.objects.filter(server=server).first()


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
