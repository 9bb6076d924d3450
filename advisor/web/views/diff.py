"""Before and after: two windows of a server, or of two, next to each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from advisor.engine.compare import Comparison
from advisor.engine.compare_settings import SettingDifference, differing
from advisor.recommendations.comparing import Window, compare_windows
from advisor.recommendations.comparison_document import as_document
from advisor.teams import access
from advisor.ui.htmx import page_or_part
from advisor.web import diff_exports, diff_page, diff_windows, ranges
from advisor.web.diff_page import LISTED, VIEWS, Filters
from collector.models import Server
from collector.settings_history import variables_at

_LONGEST_SEARCH = 100
#: How many other servers are offered to compare with.
_OFFERED = 200


@dataclass(frozen=True)
class Asked:
    """One request for a comparison, read and answered."""

    server: Server
    other: Server | None
    windows: diff_windows.Windows
    filters: Filters
    found: Comparison | None
    variables: tuple[dict[str, str] | None, dict[str, str] | None]

    @property
    def after_server(self) -> Server:
        return self.other or self.server

    @property
    def by_work(self) -> bool:
        return self.found is not None and diff_page.per_work(self.found, self.filters)

    @property
    def settings(self) -> list[SettingDifference] | None:
        """None where they are not known at both moments."""
        before, after = self.variables
        if before is None or after is None:
            return None
        return differing(before, after, one_server=self.other is None)

    @property
    def versions(self) -> tuple[str, str]:
        before, after = ((one or {}).get("version", "") for one in self.variables)
        return before, after


def _answered(request: HttpRequest, server_id: str) -> Asked:
    target, _may = access.get_server(request.user, server_id)
    wanted = request.GET.get("other", "")
    other = access.get_server(request.user, wanted)[0] if wanted and wanted != server_id else None
    now = timezone.now().timestamp()
    windows = diff_windows.asked(request.GET, target, now, timezone.get_current_timezone())
    by = request.GET.get("by", "")
    filters = Filters(
        by=by if by in VIEWS else "",
        search=request.GET.get("q", "").strip()[:_LONGEST_SEARCH],
        unusual=bool(request.GET.get("unusual")),
        zero=bool(request.GET.get("zero")),
        everything=bool(request.GET.get("all")),
    )
    after = other or target
    found = compare_windows(Window(target, windows.a_from, windows.a_to), Window(after, windows.b_from, windows.b_to))
    variables = variables_at(target.pk, windows.a_to), variables_at(after.pk, windows.b_to)
    return Asked(target, other, windows, filters, found, variables)


@login_required
@require_GET
def diff(request: HttpRequest, server_id: str) -> HttpResponse:
    asked = _answered(request, server_id)
    windows, filters = asked.windows, asked.filters
    place = windows.query + (f"&other={asked.other.pk}" if asked.other is not None else "")
    context: dict[str, Any] = {
        "server": asked.server,
        "other": asked.other,
        "windows": windows,
        "filters": filters,
        "place": place,
        "permalink": "&".join(part for part in (place, filters.query()) if part),
        "ends": _ends(windows),
        "presets": diff_windows.presets(
            ranges.newest(asked.server, "since-change"), ranges.newest(asked.server, "since-restart")
        ),
        "others": access.servers_for(request.user).exclude(pk=asked.server.pk)[:_OFFERED],
        "clocks": (
            diff_page.clocks(windows.a_from, windows.a_to), diff_page.clocks(windows.b_from, windows.b_to)
        ),
        "settings_known": asked.settings is not None,
        "settings": asked.settings or [],
        "versions": asked.versions,
        "found": asked.found,
        # A counter's link shows it over both windows.
        "span": [
            round(at * 1000)
            for at in (min(windows.a_from, windows.b_from), max(windows.a_to, windows.b_to))
        ],
    }  # fmt: skip
    if asked.found is not None:
        context |= _told(asked, asked.found)
    return page_or_part(request, "web/diff.html", "web/_diff_rows.html", context)


def _told(asked: Asked, found: Comparison) -> dict[str, Any]:
    by_work, filters = asked.by_work, asked.filters
    changes, still = diff_page.chosen(found, filters)
    shown = changes if filters.everything else changes[:LISTED]
    load, load_facts = diff_page.load_words(found)
    return {
        "by_work": by_work,
        "unit": diff_page.unit_word(found),
        "load": load,
        "load_facts": load_facts,
        "judged": diff_page.judged_words(found),
        "restarted": diff_page.restart_words(found),
        "sides": (diff_page.side_words(found.before), diff_page.side_words(found.after)),
        "rows": [diff_page.row(change, by_work) for change in shown],
        "count": len(changes),
        "more": len(changes) - len(shown),
        "still": still,
        "unusual_count": sum(bool(one.unusual(per_work=by_work)) for one in found.changes),
        "links": {
            "second": filters.query(by="second"),
            "work": filters.query(by="work"),
            "unusual": filters.query(unusual=not filters.unusual),
            "zero": filters.query(zero=not filters.zero),
            "all": filters.query(everything=True),
            "clear": filters.query(search="", unusual=False),
        },
        "text": _text(asked, found).split("\n"),
    }


def _ends(windows: diff_windows.Windows) -> list[tuple[str, str, str]]:
    """The four ends as a form's fields of date and time want them: name, title, value."""
    zone = timezone.get_current_timezone()
    titles = (("a_from", _("from")), ("a_to", _("to")), ("b_from", _("from")), ("b_to", _("to")))
    return [
        (name, title, f"{datetime.fromtimestamp(getattr(windows, name), zone):%Y-%m-%dT%H:%M:%S}")
        for name, title in titles
    ]


def _text(asked: Asked, found: Comparison) -> str:
    changes, _still = diff_page.chosen(found, asked.filters)
    title = asked.server.name if asked.other is None else f"A {asked.server.name}, B {asked.other.name}"
    load = " ".join(diff_page.load_words(found)).strip()
    return diff_exports.as_text(
        title, load, found, changes, asked.settings, by_work=asked.by_work, unit=diff_page.unit_word(found)
    )


@login_required
@require_GET
def export(request: HttpRequest, server_id: str, form: str) -> HttpResponse:
    """The same comparison as csv, json or txt: what the page shows, without the limit of rows."""
    if form not in ("csv", "json", "txt"):
        raise Http404("There is no such form of a comparison.")
    asked = _answered(request, server_id)
    found = asked.found
    changes: Sequence[Any] = () if found is None else diff_page.chosen(found, asked.filters)[0]
    if form == "json":
        by_work = asked.by_work
        body = None if found is None else as_document(found, changes, asked.settings, by_work=by_work)
        response: HttpResponse = JsonResponse({"comparison": body})
    elif form == "csv":
        table = diff_exports.as_csv(changes, by_work=asked.by_work)
        response = HttpResponse(table, content_type="text/csv; charset=utf-8")
        response["Content-Disposition"] = 'attachment; filename="before-and-after.csv"'
    else:
        text = "" if found is None else _text(asked, found) + "\n"
        response = HttpResponse(text, content_type="text/plain; charset=utf-8")
    response["Cache-Control"] = "private, no-store"
    return response
