"""What the page of a server's events shows: found by kind, time and words, page by page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from django.db.models import Q, QuerySet

from advisor.changes import foreign as changed_by_hand
from advisor.journal.models import Event
from advisor.recommendations.models import Recommendation
from advisor.teams import access
from advisor.teams.roles import Action
from advisor.ui import events as words
from advisor.ui.period import Period
from advisor.web import addresses
from collector.models import Server

PAGE = 50
#: Words are looked for in what the page would show, not by the database: this many of the newest events at most.
MOST_SEARCHED = 5000
_CHUNK = 500


@dataclass(frozen=True)
class Filters:
    """What the address asks for. ``group`` and ``search`` are empty, ``period`` and ``before`` None, for all."""

    group: str = ""
    search: str = ""
    period: Period | None = None
    before: Event | None = None
    chosen: Event | None = None

    @property
    def query(self) -> str:
        """What leads to the same events again, from the newest on."""
        found = {"group": self.group, "q": self.search}
        parts = [urlencode({name: value for name, value in found.items() if value})]
        return "&".join(part for part in (*parts, self.period.query if self.period else "") if part)

    def with_group(self, group: str) -> str:
        """The address of the same events of another group."""
        return "?" + replace(self, group=group).query


@dataclass(frozen=True)
class Told:
    """One event as the page shows it."""

    id: int
    at: datetime
    ended_at: datetime | None
    letter: str
    group: words.Group
    text: str
    changes: Sequence[words.Change]
    foreign: bool
    tags: Sequence[str]
    by: str
    mine: bool
    advice: str
    around: str
    chosen: bool
    adopt: str = ""
    revert: str = ""


@dataclass(frozen=True)
class EventsPage:
    """One page of events; ``older`` leads to the next one. ``searched_all`` is false where words were looked for in the
    newest events only.
    """

    events: Sequence[Told]
    groups: Sequence[tuple[words.Group, str, bool]]
    older: str
    searched_all: bool
    filters: Filters


def filters_of(server: Server, parameters: Mapping[str, str], period: Period | None) -> Filters:
    """What the address asks for; what makes no sense is left out, as a page must not fail on it."""
    group = parameters.get("group", "")
    return Filters(
        group=group if group in {one.id for one in words.GROUPS} else "",
        search=parameters.get("q", "").strip()[:100],
        period=period,
        before=_named(server, parameters.get("before", "")),
        chosen=_named(server, parameters.get("event", "")),
    )


def read(server: Server, filters: Filters, reader: Any) -> EventsPage:
    """The newest events that the filters leave, or those from a chosen one on."""
    found: list[Event] = []
    searched = 0
    more = False
    for event in _stream(server, filters):
        searched += 1
        if not _wanted(event, filters):
            if searched >= MOST_SEARCHED:
                break
            continue
        if len(found) == PAGE:
            more = True
            break
        found.append(event)
    advice = _advice(server, found)
    may = access.access_to(reader, server.team_id)
    may_propose = may is not None and may.may(Action.PROPOSE_CHANGE)
    return EventsPage(
        events=[_told(server, event, reader, advice, filters, may_propose) for event in found],
        groups=[(group, filters.with_group(group.id), group.id == filters.group) for group in words.GROUPS],
        older=f"?{filters.query}&before={found[-1].pk}".replace("?&", "?") if more else "",
        searched_all=more or searched < MOST_SEARCHED,
        filters=filters,
    )


def _stream(server: Server, filters: Filters) -> Iterator[Event]:
    """Newest first, in chunks, so that what is not shown is not read."""
    rows = _of(server).select_related("actor").filter(_group(filters.group)).order_by("-at", "-id")
    if filters.period is not None:
        rows = rows.filter(at__gte=_instant(filters.period.started), at__lt=_instant(filters.period.ended))
    last = filters.before
    if last is None and filters.chosen is not None:
        rows = rows.filter(Q(at__lt=filters.chosen.at) | Q(at=filters.chosen.at, pk__lte=filters.chosen.pk))
    while True:
        chunk = list((rows if last is None else rows.filter(_after(last)))[: _CHUNK if filters.search else PAGE + 1])
        yield from chunk
        if not chunk:
            return
        last = chunk[-1]


def _of(server: Server) -> QuerySet[Event]:
    return Event.objects.filter(server_id=server.pk, team_id=server.team_id)


def _after(event: Event) -> Q:
    return Q(at__lt=event.at) | Q(at=event.at, pk__lt=event.pk)


def _group(group: str) -> Q:
    """What the database can tell of a group; ``_wanted`` tells the rest."""
    if not group:
        return Q()
    finding = Q(kind__startswith="recommendation.") | Q(kind__startswith="rule.")
    if group == "finding":
        return finding
    request = Q(kind__startswith="change.")
    if group == "request":
        return request
    if group == "watching":
        return ~finding & ~request & ~Q(kind__in=[kind for one in words.GROUPS for kind in words.kinds_of(one.id)])
    return Q(kind__in=words.kinds_of(group))


def _wanted(event: Event, filters: Filters) -> bool:
    if filters.group and words.group_of(event.kind, event.data).id != filters.group:
        return False
    if not filters.search:
        return True
    sought = filters.search.casefold()
    parts = [words.sentence(event.kind, event.data), *words.tags_of(event.data)]
    parts += [part for one in words.changes_of(event.data) for part in (one.name, one.old or "", one.new or "")]
    if event.actor is not None:
        parts.append(event.actor.get_username())
    return any(sought in part.casefold() for part in parts)


def _advice(server: Server, events: Sequence[Event]) -> set[str]:
    """The recommendations that events tell of and that are still there."""
    named = {str(event.data.get("recommendation")) for event in events if event.data.get("recommendation")}
    if not named:
        return set()
    return set(Recommendation.objects.filter(server=server, pk__in=named).values_list("pk", flat=True))


def _told(server: Server, event: Event, reader: Any, advice: set[str], filters: Filters, may_propose: bool) -> Told:
    data = event.data if isinstance(event.data, dict) else {}
    named = str(data.get("recommendation", ""))
    foreign = words.is_foreign(event.kind, data)
    around = addresses.with_query(addresses.of("server-diff", server.pk), at=addresses.milliseconds(event.at))
    return Told(
        id=event.pk,
        at=event.at,
        ended_at=words.ended_at(data),
        letter=words.letter_of(event.kind, data),
        group=words.group_of(event.kind, data),
        text=words.sentence(event.kind, data),
        changes=words.changes_of(data),
        foreign=foreign,
        tags=words.tags_of(data),
        by=event.actor.get_username() if event.actor else ", ".join(changed_by_hand.who(event)) if foreign else "",
        mine=event.kind == "annotation.created" and event.actor_id is not None and event.actor_id == reader.pk,
        advice=addresses.of("recommendation", server.pk, named) if named in advice else _change(data),
        around=around if words.letter_of(event.kind, data) else "",
        chosen=filters.chosen is not None and filters.chosen.pk == event.pk,
        adopt=changed_by_hand.adopt_address(event) if foreign and may_propose else "",
        revert=changed_by_hand.revert_address(event) if foreign and may_propose else "",
    )


def _change(data: Mapping[str, Any]) -> str:
    """The change request that an event tells of, which is of the server's own team."""
    named = data.get("change")
    return addresses.of("change", named) if isinstance(named, str) and named.isalnum() else ""


def _named(server: Server, text: str) -> Event | None:
    return _of(server).filter(pk=int(text)).first() if text.isdigit() and len(text) < 16 else None


def _instant(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
