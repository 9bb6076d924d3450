"""What the page of one recommendation shows: the trust contract, in the order a person asks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _

from advisor.journal.models import Event
from advisor.recommendations.models import Recommendation, State
from advisor.recommendations.states import TRANSITIONS, Step
from advisor.rules import rule_by_id
from advisor.ui import events as words
from advisor.ui import quantities
from advisor.ui.charts import svg
from advisor.ui.charts.chart import Chart
from advisor.ui.period import Period
from advisor.web import server_page

#: Which chart of the server page shows what a rule looked at, by the rule's topic and words in its id.
_CHARTS = (
    ("redo", "checkpoint-age"),
    ("flush", "flushing"),
    ("io-capacity", "flushing"),
    ("dirty", "dirty-pages"),
    ("durability", "transactions"),
)
#: An evidence chart shows at least this long, so that an early finding's minute has something around it.
_SHORTEST_SECONDS = 10 * 60
_HISTORY_ROWS = 40


@dataclass(frozen=True)
class Figure:
    """One figure of the evidence: what, how much, over which window, read from where."""

    name: str
    value: str
    exact: str
    window: str
    source: str
    link: str


@dataclass(frozen=True)
class Line:
    """One change of a value, as a person writes it and as the server prints it."""

    name: str
    before: str
    after: str
    exact: str
    effect: str


def read(row: Recommendation) -> dict[str, Any]:
    """The context of the template."""
    document: Mapping[str, Any] = row.document if isinstance(row.document, dict) else {}
    started, ended = _window(document)
    chart = _evidence_chart(row, started, ended)
    return {
        "recommendation": row,
        "server": row.server,
        "document": document,
        "lines": [_line(change) for change in document.get("changes", ()) if change.get("kind") == "variable"],
        "others": [change for change in document.get("changes", ()) if change.get("kind") != "variable"],
        "figures": [_figure(row.server_id, one) for one in document.get("evidence", ())],
        "chart": chart,
        "drawing": svg.render(chart, timezone.get_current_timezone()) if chart is not None else "",
        "window_words": quantities.span(started, ended) if started and ended else "",
        "joined": [one for one in document.get("rules", ()) if one != row.rule],
        "references": [one for one in document.get("references", ()) if str(one).startswith(("https://", "http://"))],
        "rule": _rule(row.rule),
        "steps": {step.value for step in Step if (State(row.state), step) in TRANSITIONS},
        "history": [(event, words.sentence(event.kind, event.data)) for event in _history(row)],
    }


def _rule(rule_id: str) -> Any:
    try:
        return rule_by_id(rule_id)
    except KeyError:
        return None


def _history(row: Recommendation) -> list[Event]:
    """What happened to it. Events name the recommendation in their data, so those of the server are looked through."""
    events = Event.objects.filter(server_id=row.server_id, kind__startswith="recommendation.").select_related("actor")
    found = []
    for event in events.order_by("-at", "-id")[:500]:
        if isinstance(event.data, dict) and event.data.get("recommendation") == row.pk:
            found.append(event)
    return found[:_HISTORY_ROWS]


def _instant(text: object) -> datetime | None:
    try:
        when = datetime.fromisoformat(str(text).replace("Z", "+00:00"))
    except ValueError:
        return None
    return when if when.tzinfo is not None else timezone.make_aware(when, timezone.get_default_timezone())


def _window(document: Mapping[str, Any]) -> tuple[datetime | None, datetime | None]:
    """The time that the evidence spans."""
    starts, ends = [], []
    for one in document.get("evidence", ()):
        window = one.get("window") or {}
        started, ended = _instant(window.get("started_at")), _instant(window.get("ended_at"))
        if started is not None and ended is not None:
            starts.append(started)
            ends.append(ended)
    return (min(starts), max(ends)) if starts else (None, None)


def _evidence_chart(row: Recommendation, started: datetime | None, ended: datetime | None) -> Chart | None:
    """The chart that shows what the rule looked at, over the window of its evidence; None without a window."""
    if started is None or ended is None:
        return None
    wanted = next((chart for word, chart in _CHARTS if word in row.rule), None)
    if wanted is None:
        return None
    length = max((ended - started).total_seconds(), _SHORTEST_SECONDS)
    # Some room after the end, where there is any yet, shows whether it went on.
    last = min(ended.timestamp() + length * 0.1, timezone.now().timestamp())
    period = Period(last - length * 1.1, last, "", False)
    charts, _snapshot = server_page.charts_of(row.server, period)
    return charts.chart(wanted)


def _figure(server_id: str, one: Mapping[str, Any]) -> Figure:
    value, unit = one.get("value"), str(one.get("unit", ""))
    window = one.get("window") or {}
    started, ended = _instant(window.get("started_at")), _instant(window.get("ended_at"))
    link = ""
    if started is not None and ended is not None:
        seconds = max((ended - started).total_seconds(), 60)
        start_ms = round(ended.timestamp() * 1000 - seconds * 1000)
        link = f"?from={start_ms}&to={round(ended.timestamp() * 1000)}"
    exact = f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
    return Figure(
        name=str(one.get("name", "")),
        value=quantities.quantity(value, unit),
        exact=f"{exact} {unit}" if unit not in ("text", "count") else exact,
        window=quantities.span(started, ended) if started is not None and ended is not None else _("a setting"),
        source=str(one.get("source", "")),
        link=link,
    )


def _line(change: Mapping[str, Any]) -> Line:
    name, before, after = str(change.get("name", "")), str(change.get("current", "")), str(change.get("proposed", ""))
    effects = {
        "at_once": _("Takes effect at once, no restart, reversible"),
        "new_connections": _("Takes effect for new connections"),
        "restart": _("Takes effect after a restart of the server"),
    }
    shown_before, shown_after = quantities.setting(before, name), quantities.setting(after, name)
    exact = f"{before} → {after}" if (shown_before, shown_after) != (before, after) else ""
    return Line(
        str(change.get("name", "")), shown_before, shown_after, exact, effects.get(change.get("effect", ""), "")
    )
