"""The redo log of one server: whether it hurts, when, and which size these writes need."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from advisor.teams import access
from advisor.teams.roles import Action
from advisor.web import ranges, redo_page
from collector import inspecting


@login_required
@require_GET
def redo(request: HttpRequest, server_id: str) -> HttpResponse:
    target, may = access.get_server(request.user, server_id)
    period = ranges.asked(request, target, redo_page.DEFAULT_RANGE)
    context = {
        "server": target,
        "inspection": inspecting.standing(target.pk),
        "may_inspect": may.may(Action.INSPECT_SERVER),
        **redo_page.read(target, period, request.GET),
    }
    response = render(request, "web/redo.html", context)
    response["Cache-Control"] = "private, no-store"
    return response
