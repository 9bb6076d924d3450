"""Which change requests there are, and what a person was told of them."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from advisor.changes import notices as told
from advisor.changes import page_list, page_words
from advisor.changes.page_list import Asked
from advisor.teams import access
from advisor.teams.roles import Action
from advisor.ui import events


@login_required
@require_GET
def changes(request: HttpRequest) -> HttpResponse:
    asked = Asked.read(request.GET.dict())
    listing = page_list.read(request.user, asked)
    teams = access.teams_of(request.user)
    may = [one for team in teams if (one := access.access_to(request.user, team.pk)) is not None]
    context = {
        "asked": asked,
        "listing": listing,
        "tabs": [
            (name, title, listing.counts.get(name, 0), asked.query(show=name))
            for name, title in page_list.SHOWS.items()
        ],
        "states": [(one.state, one.words) for one in page_words.STANDINGS.values()],
        "servers": page_list.servers_to_choose(request.user),
        "may_propose": any(one.may(Action.PROPOSE_CHANGE) for one in may),
        "may_set_policies": any(one.may(Action.SET_POLICIES) for one in may),
    }
    return render(request, "changes/changes.html", context)


@login_required
@require_GET
def notices(request: HttpRequest) -> HttpResponse:
    rows = list(told.of(request.user).select_related("request")[: told.SHOWN])
    context = {
        "notices": [
            (row, events.sentence(row.kind, {**_mapping(row.data), "title": row.request.title})) for row in rows
        ],
        "unread": sum(row.read_at is None for row in rows),
    }
    return render(request, "changes/notices.html", context)


def _mapping(data: object) -> dict[str, object]:
    return data if isinstance(data, dict) else {}


@login_required
@require_POST
def mark_read(request: HttpRequest) -> HttpResponse:
    """One notice, or all of them."""
    number = request.POST.get("notice", "")
    one = int(number) if number.isascii() and number.isdigit() and len(number) < 18 else None
    told.mark_read(user=request.user, now=timezone.now(), notice_id=one)  # type: ignore[arg-type]
    return redirect("notices")
