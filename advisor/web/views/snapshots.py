"""The newest snapshot of one server, as it was read."""

from __future__ import annotations

import json

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.text import slugify
from django.views.decorators.http import require_GET

from advisor.teams.roles import Action
from advisor.ui.htmx import page_or_part
from advisor.web import addresses, own_cost, server_page, snapshot_page
from advisor.web.snapshot_page import KINDS, ONLY, Filters
from advisor.web.snapshot_table import as_csv, markup
from collector import snapshots


@login_required
@require_GET
def snapshot(request: HttpRequest, server_id: str) -> HttpResponse:
    watched = server_page.find(request.user, server_id)
    found = snapshots.latest(watched.server.pk)
    filters = Filters.of(request.GET)
    groups = snapshot_page.groups(found, filters) if found is not None else []
    may = watched.may.may(Action.PROPOSE_CHANGE)
    propose = addresses.of("change-new") + f"?server={watched.server.pk}&variable=" if may else ""
    context = {
        "server": watched.server,
        "row": watched.row,
        "snapshot": found,
        "filters": filters,
        "kinds": KINDS,
        "only": ONLY,
        "groups": [(group, markup(group.rows, propose)) for group in groups],
        "count": sum(len(group.rows) for group in groups),
        "probes": snapshot_page.probes(found) if found is not None else [],
        "cost": own_cost.read(watched.server, watched.watching),
        "trouble": server_page.trouble_of(watched),
    }
    return page_or_part(request, "web/snapshot.html", "web/_snapshot.html", context)


@login_required
@require_GET
def file(request: HttpRequest, server_id: str, form: str) -> HttpResponse:
    """What the page shows: as a table, or all of the snapshot as it is stored. Secrets were redacted where they were
    read.
    """
    watched = server_page.find(request.user, server_id)
    found = snapshots.latest(watched.server.pk)
    if found is None or form not in ("json", "csv"):
        raise Http404("There is no such file.")
    if form == "csv":
        rows = [row for group in snapshot_page.groups(found, Filters.of(request.GET)) for row in group.rows]
        response = HttpResponse(as_csv(rows), content_type="text/csv; charset=utf-8")
    else:
        text = json.dumps(found.as_dict(), indent=1, ensure_ascii=False)
        response = HttpResponse(text, content_type="application/json")
    name = f"{slugify(watched.server.name) or watched.server.pk}-{int(found.taken_at)}.{form}"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    response["Cache-Control"] = "private, no-store"
    return response
