"""One server: what happens there, whether it is redo and flushing, and what may safely be done now."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone, translation
from django.views.decorators.http import require_GET

from advisor.teams.roles import Action
from advisor.ui.htmx import page_or_part, unchanged
from advisor.web import addresses, advice_card, banner, levers_page, own_cost, ranges, server_page
from advisor.web.charts.drawing import drawings
from advisor.web.server_charts import point_short
from collector import inspecting, snapshots


@login_required
@require_GET
def server(request: HttpRequest, server_id: str) -> HttpResponse:
    watched = server_page.find(request.user, server_id)
    target, may, row = watched.server, watched.may, watched.row
    now = timezone.now()
    period = ranges.asked(request, target)
    inspection = inspecting.standing(target.pk)
    last = server_page.moved(target)
    reader = (translation.get_language(), timezone.get_current_timezone_name(), sorted(may.roles), inspection)
    tag = server_page.tag(watched, last, period, reader)
    not_modified = unchanged(request, tag)
    if not_modified is not None:
        return not_modified
    events = banner.events(row, target, period)
    charts, snapshot = server_page.charts_of(target, period, events=events if period.moves else None)
    recently = banner.look(row, target)
    point = point_short(snapshot)
    context = {
        "server": target,
        "row": row,
        "now": now,
        "trouble": server_page.trouble_of(watched),
        "try_url": addresses.of("server-try", target.pk),
        "last_hour": server_page.last_hour(row),
        "unreadable": server_page.unreadable(snapshot),
        "period": period,
        "facts": server_page.identity_facts(target, row, snapshot),
        "point_short": point,
        "banner": banner.read(row, target, recently, point, events),
        "levers": levers_page.read(target, row, snapshot, recently, now),
        "drawings": drawings(charts),
        "advice": advice_card.read(target, watched.judgement, now, last.resolved),
        "cost": own_cost.read(target, watched.watching),
        "inspection": inspection,
        "may_inspect": may.may(Action.INSPECT_SERVER),
        "may_change": may.may(Action.CHANGE_SERVER),
        "freshness": server_page.freshness(target, row),
    }
    return page_or_part(request, "web/server.html", "web/_server.html", context, tag=tag)


@login_required
@require_GET
def levers(request: HttpRequest, server_id: str) -> HttpResponse:
    """The same levers as in the dialog, for a browser without scripts and for a link in a ticket."""
    watched = server_page.find(request.user, server_id)
    target, row = watched.server, watched.row
    snapshot = snapshots.latest(target.pk)
    recently = banner.look(row, target)
    context = {
        "server": target,
        "row": row,
        "banner": banner.read(row, target, recently, point_short(snapshot)),
        "levers": levers_page.read(target, row, snapshot, recently, timezone.now()),
        "may_change": watched.may.may(Action.PROPOSE_CHANGE),
    }
    return render(request, "web/levers.html", context)
