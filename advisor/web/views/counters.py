"""All numbers of one server, searched and charted on demand; the samples behind a figure."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_GET

from advisor.teams import access
from advisor.ui.htmx import page_or_part
from advisor.web import counters_page, ranges
from advisor.web.counters_page import LISTED, LISTED_BESIDE, MOST_NAMES, Catalogue, Course
from advisor.web.traced_figure import traced
from collector.store.document import as_document

_LONGEST_SEARCH = 100
#: As many points as the API gives at most: short ranges come sample by sample.
_EXPORTED_POINTS = 2000


@login_required
@require_GET
def counters(request: HttpRequest, server_id: str) -> HttpResponse:
    target, _may = access.get_server(request.user, server_id)
    period = ranges.asked(request, target)
    names = counters_page.asked_names(dict(request.GET.lists()))
    search = request.GET.get("q", "").strip()[:_LONGEST_SEARCH]
    catalogue = Catalogue(target, names, period.query)
    context: dict[str, Any] = {
        "server": target,
        "period": period,
        "names": names,
        "search": search,
        "count": catalogue.count,
        "most_names": MOST_NAMES,
        # What the links of the time range keep, and what a link to the same samples as a file needs.
        "kept": "".join(f"&{urlencode({'name': name})}" for name in names),
        "files": "&".join([urlencode([("name", name) for name in names]), period.fixed]),
        "adding": len(names) < MOST_NAMES,
    }
    if names:
        course = Course(target, names, period)
        context |= {
            "figures": course.figures(),
            "facts": [course.facts(name, catalogue) for name in names],
            "step_seconds": course.buckets.step_seconds,
        }
        how = request.GET.get("how", "")
        if how:
            # Sample by sample where the range allows it, and as the file of the same samples has them.
            every = Course(target, names[:1], period, _EXPORTED_POINTS)
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
    return page_or_part(request, "web/counters.html", "web/_counters_found.html", context)


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
