"""All numbers of one server, searched and charted on demand; the samples behind a figure."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_GET

from advisor.teams import access
from advisor.ui.charts import standalone
from advisor.ui.charts.figure import as_data
from advisor.ui.htmx import page_or_part
from advisor.ui.period import Period
from advisor.web import counters_page, ranges
from advisor.web.counters_page import LISTED, LISTED_BESIDE, MOST_NAMES, Catalogue, Course
from advisor.web.traced_figure import names_for, traced
from collector.store.document import as_document

_LONGEST_SEARCH = 100
#: As many points as the API gives at most: short ranges come sample by sample.
_EXPORTED_POINTS = 2000
_EXPLORED_POINTS = 600


@login_required
@require_GET
def counters(request: HttpRequest, server_id: str) -> HttpResponse:
    target, _may = access.get_server(request.user, server_id)
    names = counters_page.asked_names(dict(request.GET.lists()))
    period = _period(request, target, names)
    search = request.GET.get("q", "").strip()[:_LONGEST_SEARCH]
    catalogue = Catalogue(target, names, replace(period, kept={}).query)
    # While somebody types a search only the list is swapped in: its charts stand already.
    typing = getattr(request.htmx, "target", None) == "found"  # type: ignore[attr-defined]
    context: dict[str, Any] = {
        "server": target,
        "period": period,
        "names": names,
        "search": search,
        "count": catalogue.count,
        "most_names": MOST_NAMES,
        "plain": replace(period, kept={}).query,
        "adding": len(names) < MOST_NAMES,
    }
    if names and not typing:
        course = Course(target, names, period)
        context |= {
            "figures": course.figures(),
            "facts": [course.facts(name, catalogue) for name in names],
            "step_seconds": course.buckets.step_seconds,
        }
        how = request.GET.get("how", "")
        if how:
            # Sample by sample where the range allows it, and as the file of the same samples has them.
            every = Course(target, names_for(names, how), period, _EXPORTED_POINTS)
            context["traced"] = traced(every.buckets, names[0], how)
    listed = catalogue.found(search)
    everything = "all" in request.GET
    shown = listed if everything else listed[: LISTED_BESIDE if names and not search else LISTED]
    if not search and not names and not everything:
        moved, seconds = counters_page.moved_most(target, period)
        context |= {"moved": [catalogue.entry(name) for name in moved], "moved_seconds": seconds}
    context |= {
        "found": len(listed),
        "listed": [catalogue.entry(name) for name in shown],
        "more": len(listed) - len(shown),
        "every": catalogue.address(names) + "&all=1" + (f"&{urlencode({'q': search})}" if search else ""),
    }
    part = "web/_counters_found.html" if typing else "web/_counters.html"
    return page_or_part(request, "web/counters.html", part, context)


def _period(request: HttpRequest, target: Any, names: list[str]) -> Period:
    """The range of the address; its links keep the names that are charted."""
    return replace(ranges.asked(request, target), kept={"name": ",".join(names)} if names else {})


@login_required
@require_GET
def charts(request: HttpRequest, server_id: str) -> HttpResponse:
    """The charts of the address as data, for exploring them."""
    target, _may = access.get_server(request.user, server_id)
    names = counters_page.asked_names(dict(request.GET.lists()))
    period = _period(request, target, names)
    zone = timezone.get_current_timezone()
    drawn = Course(target, names, period, _EXPLORED_POINTS).charts()
    answer = {
        "charts": [as_data(chart, zone) for chart in drawn],
        "query": period.query,
        "moves": period.moves,
        "zone": timezone.get_current_timezone_name(),
    }
    return _kept_to_oneself(JsonResponse(answer))


@login_required
@require_GET
def drawing(request: HttpRequest, server_id: str, number: int) -> HttpResponse:
    """One of the charts of the address, counted from 1, as an SVG file."""
    target, _may = access.get_server(request.user, server_id)
    names = counters_page.asked_names(dict(request.GET.lists()))
    drawn = Course(target, names, _period(request, target, names)).charts()
    if not 1 <= number <= len(drawn):
        # The address names fewer charts than it asks for: the page shows which.
        return redirect("server-counters", server_id)
    chart = drawn[number - 1]
    text = standalone.chart_file(chart, counters_page.keys(chart), target.name, timezone.get_current_timezone())
    response = HttpResponse(text, content_type="image/svg+xml")
    response["Content-Disposition"] = f'attachment; filename="counters-{number}.svg"'
    return _kept_to_oneself(response)


@login_required
@require_GET
def data(request: HttpRequest, server_id: str) -> HttpResponse:
    """The same samples as getSeries of the API answers them."""
    target, _may = access.get_server(request.user, server_id)
    course = _exported(request, target)
    return _kept_to_oneself(JsonResponse(as_document(course.buckets, course.names, course.gaps)))


@login_required
@require_GET
def table(request: HttpRequest, server_id: str) -> HttpResponse:
    """The same samples as CSV."""
    target, _may = access.get_server(request.user, server_id)
    response = HttpResponse(_exported(request, target).csv(), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = 'attachment; filename="counters.csv"'
    return _kept_to_oneself(response)


def _exported(request: HttpRequest, target: Any) -> Course:
    period = ranges.asked(request, target)
    asked = request.GET.get("points", "")
    points = min(max(int(asked), 2), _EXPORTED_POINTS) if asked.isascii() and asked.isdigit() else _EXPORTED_POINTS
    return Course(target, counters_page.asked_names(dict(request.GET.lists())), period, points)


def _kept_to_oneself(response: HttpResponse) -> HttpResponse:
    response["Cache-Control"] = "private, no-store"
    return response
