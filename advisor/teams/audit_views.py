"""The audit as a page and as files."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.views.decorators.http import require_GET

from advisor.teams import audit_reading as reading
from advisor.teams.audit_models import AuditEntry, AuditHead
from advisor.ui.htmx import page_or_part

PAGE = 50


@login_required
@require_GET
def audit(request: HttpRequest) -> HttpResponse:
    asked = reading.asked(request.GET.dict())
    rows = reading.entries_for(request.user, asked.filters)
    before = request.GET.get("before", "")
    if before.isdecimal() and len(before) < 18:
        rows = rows.filter(sequence__lt=int(before))
    found = list(rows.order_by("-sequence")[: PAGE + 1])
    older = f"{asked.query}&before={found[PAGE - 1].sequence}".lstrip("&") if len(found) > PAGE else ""
    context = {
        "entries": [_told(entry) for entry in found[:PAGE]],
        "older": older,
        "asked": asked,
        "teams": reading.teams_seen(request.user),
        "groups": [(group, asked.with_group(group), group == asked.texts["action"]) for group in reading.GROUPS],
        "all_url": asked.with_group(""),
        "all_teams": reading.sees_installation(request.user),
        "head": AuditHead.objects.filter(pk=1).first(),
    }
    return page_or_part(request, "teams/audit.html", "teams/_audit.html", context)


@login_required
@require_GET
def export(request: HttpRequest, form: str) -> StreamingHttpResponse:
    """All that the address leaves, the oldest first, with the digests; ``form`` is csv or jsonl."""
    rows = reading.in_order(reading.entries_for(request.user, reading.asked(request.GET.dict()).filters))
    lines = reading.as_csv(rows) if form == "csv" else reading.as_json_lines(rows)
    kind = "text/csv; charset=utf-8" if form == "csv" else "application/x-ndjson"
    response = StreamingHttpResponse(lines, content_type=kind)
    response["Content-Disposition"] = f'attachment; filename="tidemark-audit.{form}"'
    response["Cache-Control"] = "private, no-store"
    return response


def _told(entry: AuditEntry) -> dict[str, Any]:
    data = reading.data_of(entry)
    return {"row": entry, "data": [(name, _shown(value)) for name, value in sorted(data.items())]}


def _shown(value: Any) -> str:
    """A value of the data on one line, as people read it."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(_shown(one) for one in value) or "–"
    if isinstance(value, dict):
        return "; ".join(f"{name} {_shown(one)}" for name, one in value.items()) or "–"
    return str(value)
