"""What the page of a change request shows of its verdicts: server by server, stage by stage, metric by metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext as _

from advisor.changes import verifying_words as words
from advisor.changes.models import Application, ChangeRequest, Verification
from advisor.changes.verifying_predicted import expected
from advisor.ui import messages, quantities
from advisor.ui.whisker import whisker

#: The charts show this much more than the windows on both sides.
_MARGIN_SECONDS = 60


@dataclass(frozen=True)
class Row:
    """One metric. ``drawing`` is a dot and a whisker for what has a factor."""

    title: str
    before: str
    after: str
    change: str
    interval: str
    drawing: str
    tone: str
    judged: str
    aim: bool
    predicted: str


@dataclass(frozen=True)
class Stage:
    """One of the three times at which it is judged. ``at`` is when it was, or is due."""

    id: str
    title: str
    at: datetime
    judged: bool
    tone: str
    shape: str
    word: str
    sentence: str
    shown: bool


@dataclass(frozen=True)
class Shown:
    """One server's verdict. ``final`` is false while only what is known so far is told; ``rows`` are metrics that moved
    or decide, ``rest`` the others.
    """

    server_id: str
    server: str
    stage: Stage
    stages: Sequence[Stage]
    sentence: str
    final: bool
    load: Sequence[Row]
    rows: Sequence[Row]
    rest: Sequence[Row]
    windows: Sequence[tuple[str, str]]
    expected: Sequence[str]
    compare: str
    chart: str


def read(request: ChangeRequest) -> list[Shown]:
    """The newest verdict on each server, in the order in which they were changed; empty where nothing was applied."""
    applications = (
        Application.objects.filter(request=request, direction=Application.Direction.APPLY)
        .select_related("server")
        .prefetch_related("verifications")
        .order_by("position", "pk")
    )
    return [_shown(one, list(one.verifications.all())) for one in applications if one.verifications.all()]


def _shown(application: Application, rows: Sequence[Verification]) -> Shown:
    judged = [row for row in rows if row.judged_at is not None]
    chosen = judged[-1] if judged else rows[0]
    document: Mapping[str, Any] = chosen.document or {}
    stages = [_stage(row, shown=row is chosen) for row in rows]
    table = [_row(one, document) for one in document.get("metrics") or ()]
    decides = [
        row
        for row, one in zip(table, document.get("metrics") or (), strict=True)
        if one.get("aim") or one.get("judged") != "same"
    ]
    return Shown(
        server_id=application.server_id,
        server=application.server.name,
        stage=next(stage for stage in stages if stage.shown),
        stages=stages,
        sentence=words.sentence(document, chosen.verdict),
        final=chosen.judged_at is not None,
        load=[_row(one, document) for one in document.get("load") or ()],
        rows=decides,
        rest=[row for row in table if row not in decides],
        windows=_windows(document),
        expected=[messages.text_of(one) for one in expected(application.request_id, application.server_id)],
        compare=_compare(application.server_id, document),
        chart=_chart(application.server_id, document),
    )


def _stage(row: Verification, *, shown: bool) -> Stage:
    tone, shape, word = words.VERDICTS.get(row.verdict, ("", "◔", ""))
    return Stage(
        id=row.stage,
        title=_(words.STAGES[row.stage]),
        at=row.judged_at or row.due_at,
        judged=row.judged_at is not None,
        tone=tone,
        shape=shape,
        word=_(word) if word else _("not yet"),
        sentence=words.sentence(row.document or {}, row.verdict) if row.judged_at is not None else "",
        shown=shown,
    )


def _row(one: Mapping[str, Any], document: Mapping[str, Any]) -> Row:
    tone, judged = words.JUDGED.get(words.judged_as(one), ("", ""))
    change, interval = words.change(one), words.interval(one)
    drawing = ""
    if one.get("scale") == "amount" and (one.get("before") or one.get("after")):
        drawing = whisker(
            one.get("change"),
            one.get("low"),
            one.get("high"),
            grew=(one.get("after") or 0) > (one.get("before") or 0),
            unusual=one.get("judged") == "worse",
            words=f"{change} {interval}".strip(),
        )
    return Row(
        title=words.title(one, document),
        before=words.amount(one, "before"),
        after=words.amount(one, "after"),
        change=change,
        interval=interval,
        drawing=drawing,
        tone=tone,
        judged=_(judged) if judged else "",
        aim=bool(one.get("aim")),
        predicted=_predicted(one, document),
    )


def _predicted(one: Mapping[str, Any], document: Mapping[str, Any]) -> str:
    for band in document.get("predicted") or ():
        if band.get("id") == one.get("id"):
            unit = str(one.get("unit", ""))
            low, high = quantities.quantity(band["low"], unit), quantities.quantity(band["high"], unit)
            return low if low == high else f"{low} – {high}"
    return ""


def _windows(document: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What was compared with what: (name, time)."""
    found = document.get("windows")
    if not found:
        return []
    before, after = found["before"], found["after"]
    told = [
        (_("before"), quantities.span(_instant(before["from"]), _instant(before["to"]))),
        (_("after"), quantities.span(_instant(after["from"]), _instant(after["to"]))),
    ]
    settled = document.get("settled_at")
    if settled:
        seconds = max(float(settled) - float(document["ended_at"]), 0.0)
        told.insert(1, (_("left out until it had settled"), quantities.duration(seconds)))
    return told


def _compare(server_id: str, document: Mapping[str, Any]) -> str:
    """The same two windows with every counter there is."""
    found = document.get("windows")
    if not found:
        return ""
    ends = {
        "a_from": found["before"]["from"],
        "a_to": found["before"]["to"],
        "b_from": found["after"]["from"],
        "b_to": found["after"]["to"],
    }
    query = urlencode({name: round(float(value) * 1000) for name, value in ends.items()})
    return f"{reverse('server-diff', args=[server_id])}?{query}"


def _chart(server_id: str, document: Mapping[str, Any]) -> str:
    """The server's charts from the beginning of the one window to the end of the other."""
    found = document.get("windows")
    if not found:
        return ""
    start, end = found["before"]["from"] - _MARGIN_SECONDS, found["after"]["to"] + _MARGIN_SECONDS
    query = urlencode({"from": round(start * 1000), "to": round(end * 1000)})
    return f"{reverse('server', args=[server_id])}?{query}"


def _instant(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
