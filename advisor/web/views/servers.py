"""One server: what happens there, and whether it is redo and flushing."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.utils import timezone, translation
from django.views.decorators.http import require_GET

from advisor.teams import access
from advisor.teams.roles import Action
from advisor.ui import period as periods
from advisor.ui.htmx import page_or_part, unchanged
from advisor.web import ranges, server_page
from advisor.web.charts.drawing import drawings
from advisor.web.server_charts import point_short
from collector import inspecting

#: A server that was added less than this ago has too short a history for the usual range.
YOUNG_SECONDS = 30 * 60


@login_required
@require_GET
def server(request: HttpRequest, server_id: str) -> HttpResponse:
    target, may = access.get_server(request.user, server_id)
    now = timezone.now()
    # An hour that holds five minutes shows little: a server that just came is shown by the shortest range.
    young = (now - target.created_at).total_seconds() < YOUNG_SECONDS
    period = ranges.asked(request, target, "15m" if young else periods.DEFAULT)
    row = server_page.fleet_row(target)
    inspection = inspecting.standing(target.pk)
    reader = (translation.get_language(), timezone.get_current_timezone_name(), sorted(may.roles), inspection)
    tag = server_page.tag(target, row, period, reader)
    not_modified = unchanged(request, tag)
    if not_modified is not None:
        return not_modified
    charts, snapshot = server_page.charts_of(target, period)
    context = {
        "server": target,
        "row": row,
        "watching": server_page.state_of(target),
        "period": period,
        "facts": server_page.identity_facts(target, row, snapshot),
        "point_short": point_short(snapshot),
        "drawings": drawings(charts),
        "pressure_p95": charts.pressure_p95,
        "advice": server_page.advice(target),
        "inspection": inspection,
        "may_inspect": may.may(Action.INSPECT_SERVER),
        "may_change": may.may(Action.CHANGE_SERVER),
        "freshness": server_page.freshness(target, row),
    }
    return page_or_part(request, "web/server.html", "web/_server.html", context, tag=tag)
