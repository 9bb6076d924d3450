"""The first page: which servers need somebody, in what order."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.urls import NoReverseMatch, reverse
from django.utils import timezone
from django.views.decorators.http import require_GET

from advisor.mysql.grants import observe_grants
from advisor.mysql.version import identify
from advisor.teams import access
from advisor.teams.roles import Action
from advisor.ui.htmx import page_or_part
from advisor.web import fleet_page
from advisor.web.fleet import export as files
from advisor.web.fleet.filters import Filters

#: What the empty page shows to copy: the statements differ between these.
_ACCOUNTS = (("MySQL", "8.0.36 MySQL"), ("MariaDB", "10.11.6-MariaDB"))
_FORMS = {
    "csv": ("text/csv; charset=utf-8", files.as_csv),
    "json": ("application/json", files.as_json),
}


@login_required
@require_GET
def fleet(request: HttpRequest) -> HttpResponse:
    shown = fleet_page.read(request.user, request.GET)
    rights = [access.access_to(request.user, team.pk) for team in access.teams_of(request.user)]
    may_add = any(mine is not None and mine.may(Action.ADD_SERVER) for mine in rights)
    context = {
        "fleet": shown,
        "filters": shown.filters,
        "may_add": may_add,
        "several_teams": len(rights) > 1,
        "compare_url": _address("fleet-compare"),
        "import_url": _address("import-servers") if may_add else "",
        "statements": [] if shown.total or not may_add else _statements(),
    }
    if request.GET.get("only") == "rows" and request.headers.get("HX-Request"):
        # A fold that is opened asks for its rows alone.
        return render(request, "web/_fleet_fold.html", context)
    return page_or_part(request, "web/fleet.html", "web/_fleet.html", context)


@login_required
@require_GET
def export(request: HttpRequest, form: str) -> StreamingHttpResponse:
    """The list of the same address as a file, all of its pages."""
    if form not in _FORMS:
        raise Http404("There are files in csv and json.")
    content_type, write = _FORMS[form]
    team_ids = [team.pk for team in access.teams_of(request.user)]
    found = files.records(team_ids, Filters.read(request.GET))
    response = StreamingHttpResponse(write(found), content_type=content_type)
    name = f"tidemark-fleet-{timezone.localtime():%Y-%m-%d-%H%M}.{form}"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    response["Cache-Control"] = "private, no-store"
    return response


def _address(name: str) -> str:
    """A page's address, "" where this installation has no such page."""
    try:
        return reverse(name)
    except NoReverseMatch:
        return ""


def _statements() -> list[tuple[str, list[str]]]:
    return [(title, observe_grants(identify(text), "'tidemark'@'%'")) for title, text in _ACCOUNTS]
