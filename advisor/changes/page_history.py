"""What happened to a change request: who did which step, who said what, who approved which exact text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _

from advisor.changes import page_words
from advisor.changes.models import ChangeRequest, Plan, Review
from advisor.journal.models import Event
from advisor.ui import events, messages


@dataclass(frozen=True)
class Entry:
    """One thing that happened. ``plan`` is the plan that it speaks of, ``fallen`` why an approval does not count."""

    at: datetime
    who: str
    words: str
    text: str = ""
    plan: Plan | None = None
    line: str = ""
    fallen: str = ""
    review: bool = False


def read(request: ChangeRequest) -> Sequence[Entry]:
    """The newest first."""
    plans = {plan.pk: plan for plan in Plan.objects.filter(request=request)}
    by_hash = {plan.hash: plan for plan in plans.values()}
    entries = [*_reviews(request, plans), *_events(request, by_hash)]
    return sorted(entries, key=lambda entry: entry.at, reverse=True)


def _reviews(request: ChangeRequest, plans: dict[str, Plan]) -> list[Entry]:
    found = []
    for one in Review.objects.filter(request=request):
        fallen = ""
        if one.fallen_at is not None:
            fallen = _("does not count any more")
        words = _(page_words.VERDICTS.get(one.verdict, one.verdict))
        line = one.line.partition("/")[2]
        found.append(Entry(one.at, one.person_name, words, one.text, plans.get(one.plan_id), line, fallen, True))
    return found


#: Steps that a review stands for already, with what was said.
_SAID_BY_REVIEWS = {"change.comment", "change.request_changes", "change.endorse", "change.approve"}


def _events(request: ChangeRequest, by_hash: dict[str, Plan]) -> list[Entry]:
    """The steps, each once though the journal has it of every server."""
    servers = list(dict.fromkeys(request.wanted.values_list("server_id", flat=True)))
    if request.plan is not None:
        servers += [one["server"] for one in request.plan.document["servers"] if one["server"] not in servers]
    rows = Event.objects.filter(team_id=request.team_id, server_id__in=servers, kind__startswith="change.")
    found: dict[tuple[str, Any], Entry] = {}
    for event in rows.select_related("actor").order_by("-at", "-pk")[:2000]:
        data = event.data if isinstance(event.data, dict) else {}
        if data.get("change") != request.pk or event.kind in _SAID_BY_REVIEWS:
            continue
        # A verdict is of one server and stage, and leaves the request's version as it is.
        key = (event.kind, data.get("version") or (event.server_id, data.get("stage")))
        who = event.actor.get_username() if event.actor is not None else ""
        words = events.sentence(event.kind, {**data, "title": request.title})
        plan = by_hash.get(str(data.get("plan_hash") or "")) if event.kind == "change.submit" else None
        found.setdefault(key, Entry(event.at, who, words, messages.text_of(data.get("why")), plan))
    return list(found.values())
