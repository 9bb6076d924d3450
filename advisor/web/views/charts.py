"""The charts of one server as data: for exploring them, as files, and how many samples came since."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.db.models import Max, Sum
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotModified, JsonResponse
from django.utils import timezone, translation
from django.views.decorators.http import require_GET

from advisor.journal.models import Event
from advisor.teams import access
from advisor.ui.charts.figure import as_data
from advisor.ui.htmx import tag_of
from advisor.ui.period import Period
from advisor.web import chart_exports, ranges, server_page
from advisor.web.server_charts import POINTS_TALL
from collector.models import OpenSample, SealedBlock, Server, StoredSnapshot

#: The policy of a file that is opened as a page of its own: it needs nothing.
_NOTHING = "default-src 'none'"


@login_required
@require_GET
def charts(request: HttpRequest, server_id: str) -> HttpResponse:
    """All charts of a page in one answer; 304 where nothing that they are drawn from is newer."""
    target, _may = access.get_server(request.user, server_id)
    period = ranges.asked(request, target)
    tag = _tag(target, period)
    if request.headers.get("If-None-Match") == tag:
        unchanged = HttpResponseNotModified()
        unchanged["ETag"] = tag
        return unchanged
    found, _snapshot = server_page.charts_of(target, period, points=POINTS_TALL)
    response = JsonResponse(
        {
            "charts": [as_data(chart, timezone.get_current_timezone()) for chart in found.over_time],
            "query": period.query,
            "moves": period.moves,
            "zone": timezone.get_current_timezone_name(),
        }
    )
    response["ETag"] = tag
    response["Cache-Control"] = "private, no-cache"
    return response


def _tag(server: Server, period: Period) -> str:
    def newest(rows: object, name: str) -> object:
        return rows.objects.filter(server_id=server.pk).aggregate(newest=Max(name))["newest"]  # type: ignore[attr-defined]

    # While nothing new is stored, the right edge of a moving range still moves: once in a while is enough for that.
    edge = int(period.ended // max(period.seconds / 120, 10)) if period.moves else period.ended
    return tag_of(
        server.pk, period.query, edge, newest(OpenSample, "slot"), newest(SealedBlock, "hour_at"),
        newest(StoredSnapshot, "slot"), newest(Event, "id"), translation.get_language(),
        timezone.get_current_timezone_name(),
    )  # fmt: skip


@login_required
@require_GET
def newest(request: HttpRequest, server_id: str) -> HttpResponse:
    """How many polls were stored after ``?since=`` (unix seconds), and when the newest was: what a page that stands
    still asks, so that it can say what waits.
    """
    target, _may = access.get_server(request.user, server_id)
    text = request.GET.get("since", "")
    since = int(text) if text.isdecimal() and len(text) <= 12 else 0
    waiting = OpenSample.objects.filter(server=target, slot__gt=since)
    sealed = SealedBlock.objects.filter(server=target, hour_at__gt=since).aggregate(count=Sum("count"))["count"] or 0
    response = JsonResponse(
        {"count": waiting.count() + sealed, "newest": waiting.aggregate(newest=Max("slot"))["newest"]}
    )
    response["Cache-Control"] = "private, no-store"
    return response


@login_required
@require_GET
def export(request: HttpRequest, server_id: str, chart: str, form: str) -> HttpResponse:
    """One chart as a file, over the range of the address."""
    target, _may = access.get_server(request.user, server_id)
    if form not in chart_exports.FORMS:
        raise Http404
    period = ranges.asked(request, target)
    found, _snapshot = server_page.charts_of(target, period)
    file = chart_exports.made(target, found, period, chart, form)
    if file is None:
        raise Http404
    response = HttpResponse(file.text, content_type=file.kind)
    # A drawing is looked at, data are saved.
    how = "inline" if form == "svg" else "attachment"
    response["Content-Disposition"] = f'{how}; filename="{file.name}"'
    response["Content-Security-Policy"] = _NOTHING
    response["Cache-Control"] = "private, no-store"
    return response
