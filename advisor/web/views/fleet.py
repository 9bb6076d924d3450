"""The first page: which servers need somebody, in what order."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_GET

from advisor.teams import access
from advisor.teams.roles import Action
from advisor.ui.htmx import page_or_part
from advisor.web import fleet_page


@login_required
@require_GET
def fleet(request: HttpRequest) -> HttpResponse:
    shown = fleet_page.read(request.user, request.GET)
    may_add = any(
        (mine := access.access_to(request.user, team.pk)) is not None and mine.may(Action.ADD_SERVER)
        for team in access.teams_of(request.user)
    )
    context = {"fleet": shown, "filters": shown.filters, "may_add": may_add, "states": fleet_page.STATES}
    return page_or_part(request, "web/fleet.html", "web/_fleet.html", context)
