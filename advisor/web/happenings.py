"""The lane of events above the charts: a letter for each, several in one place folded into one."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from advisor.journal.models import Event
from advisor.ui import events as words
from advisor.ui.charts.chart import Happening
from advisor.ui.period import Period
from advisor.web import addresses
from collector.models import Server

#: More than a lane can show, so that what is cut off was folded anyway.
_MOST_EVENTS = 400
#: Letters closer than this share of the range would stand on top of each other.
_DISTANCE = 0.016
_MOST_WORDS = 6


def events(server: Server, started: datetime, ended: datetime) -> list[Event]:
    """What the lane can hold of a time, oldest first; of very many the newest."""
    rows = (
        Event.objects.filter(server_id=server.pk, kind__in=words.LANE_KINDS, at__gte=started, at__lt=ended)
        .defer("team", "actor")
        .order_by("-at", "-id")[:_MOST_EVENTS]
    )
    return list(reversed(rows))


def read(server: Server, period: Period, known: Sequence[Event] | None = None) -> list[Happening]:
    """What happened in the range, oldest first. ``known`` are events that hold at least those of the range."""
    if known is None:
        known = events(server, _instant(period.started), _instant(period.ended))
    return folded(known, period)


def folded(found: Sequence[Event], period: Period) -> list[Happening]:
    """Neighbours become one: ``C×5``, or ``RC`` of different kinds. Each leads to its events; what lies outside of the
    range is left out.
    """
    started, ended = _instant(period.started), _instant(period.ended)
    groups: list[list[Event]] = []
    for event in found:
        if not started <= event.at < ended or not words.letter_of(event.kind, event.data):
            continue
        if groups and (event.at - groups[-1][0].at).total_seconds() < _DISTANCE * period.seconds:
            groups[-1].append(event)
        else:
            groups.append([event])
    return [_happening(group) for group in groups]


def _happening(group: Sequence[Event]) -> Happening:
    letters = list(dict.fromkeys(words.letter_of(event.kind, event.data) for event in group))
    letter = "".join(letters[:3]) + (f"×{len(group)}" if len(group) > len(letters) else "")
    text = [words.sentence(event.kind, event.data) for event in group[:_MOST_WORDS]]
    if len(group) > _MOST_WORDS:
        text.append("…")
    last = group[-1]
    return Happening(
        last.at.timestamp() * 1000,
        letter,
        "\n".join(text),
        f"{addresses.of('server-events', last.server_id)}?event={last.pk}#event-{last.pk}",
        any(words.is_foreign(event.kind, event.data) for event in group),
    )


def _instant(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
