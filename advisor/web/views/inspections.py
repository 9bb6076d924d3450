"""Having a server inspected: accounts, tables and statements are read only when somebody asks."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from advisor.teams import access
from advisor.teams.roles import Action
from collector import inspecting


@login_required
@require_POST
def inspect(request: HttpRequest, server_id: str) -> HttpResponse:
    """Asks for an inspection; a worker makes it."""
    target, may = access.get_server(request.user, server_id)
    may.require(Action.INSPECT_SERVER)
    inspecting.request_inspection(server=target, actor=request.user)  # type: ignore[arg-type]
    return _line(request, target, may)


@login_required
@require_GET
def inspection(request: HttpRequest, server_id: str) -> HttpResponse:
    """How the newest request goes: the line on the server page asks for it while one is under way."""
    target, may = access.get_server(request.user, server_id)
    return _line(request, target, may)


def _line(request: HttpRequest, target: Any, may: access.Access) -> HttpResponse:
    """The part for htmx; without scripts the page that it is a part of."""
    if not getattr(request, "htmx", False):
        return redirect("server", target.pk)
    context = {
        "server": target,
        "inspection": inspecting.standing(target.pk),
        "may_inspect": may.may(Action.INSPECT_SERVER),
        "may_change": may.may(Action.CHANGE_SERVER),
    }
    response = render(request, "web/_inspection.html", context)
    response["Cache-Control"] = "private, no-store"
    return response
