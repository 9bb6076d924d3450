"""How servers differ: the page, and the same as a file."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET

from advisor.teams import access
from advisor.teams.roles import Action
from advisor.web.comparing import FEWEST, MOST, SHOWS, Asked, as_csv, as_text, candidates, chosen, compare, without


@login_required
@require_GET
def fleet_compare(request: HttpRequest) -> HttpResponse:
    """Two to six servers side by side; with fewer or more the page says so, and helps to choose."""
    asked = Asked.read(request.GET)
    servers = chosen(request.user, asked)
    found, more = candidates(request.user, asked) if len(servers) < MOST else ([], False)
    right = FEWEST <= len(servers) <= MOST
    comparison = compare(servers, asked) if right else None
    context = {
        "asked": asked,
        "chosen": without(servers, asked),
        "candidates": found,
        "more": more,
        "too_many": len(servers) > MOST,
        "most": MOST,
        "comparison": comparison,
        "text": as_text(comparison) if comparison else "",
        "shows": [(show, asked.query(show=show)) for show in SHOWS],
        "query": asked.query(),
        "may_propose": any(
            one.may(Action.PROPOSE_CHANGE)
            for team_id in {server.team_id for server in servers}
            if (one := access.access_to(request.user, team_id)) is not None
        ),
    }
    response = render(request, "web/compare.html", context, status=422 if len(servers) > MOST else 200)
    response["Cache-Control"] = "private, no-store"
    return response


@login_required
@require_GET
def fleet_compare_csv(request: HttpRequest) -> HttpResponse:
    """The rows of the page as a table for spreadsheets; the wrong number of servers leads to the page that says so."""
    asked = Asked.read(request.GET)
    servers = chosen(request.user, asked)
    if not FEWEST <= len(servers) <= MOST:
        page = redirect("fleet-compare")
        page["Location"] += f"?{asked.query()}"
        return page
    # The mark at the beginning tells spreadsheets that it is UTF-8.
    response = HttpResponse("\ufeff" + as_csv(compare(servers, asked)), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = 'attachment; filename="tidemark-compare.csv"'
    response["Cache-Control"] = "private, no-store"
    return response
