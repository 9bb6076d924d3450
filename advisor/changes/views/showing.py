"""One change request: what exactly it would do, whether it can go, and what became of it."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone, translation
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from advisor.changes import (
    notices,
    page,
    page_actions,
    page_checks,
    page_files,
    page_history,
    page_words,
    verifying_page,
)
from advisor.changes.forms import Schedule, Verdict
from advisor.changes.models import ChangeRequest
from advisor.changes.views.loading import load
from advisor.teams.access import Access
from advisor.ui.htmx import page_or_part, tag_of, unchanged, wants_part

TABS = ("plan", "checks", "verify", "history")


@login_required
@require_GET
def change(request: HttpRequest, change_id: str) -> HttpResponse:
    found, may = load(request, change_id)
    if not wants_part(request):
        notices.mark_read_of(user=request.user, request_id=found.pk, now=timezone.now())  # type: ignore[arg-type]
    return shown(request, found, may)


def shown(
    request: HttpRequest,
    found: ChangeRequest,
    may: Access,
    *,
    verdict: Verdict | None = None,
    schedule: Schedule | None = None,
    checks: page_checks.Checks | None = None,
    status: int = 200,
) -> HttpResponse:
    """The page, with whichever form was filled wrongly."""
    now = timezone.now()
    tab = request.GET.get("tab", "")
    tab = "checks" if checks is not None else tab if tab in TABS else "plan"
    plan = found.plan
    asked = request.GET.get("plan", "")
    if asked:
        plan = found.plans.filter(hash__startswith=asked).first() if len(asked) >= 8 else None
        if plan is None:
            raise Http404("There is no such plan.")
    context: dict[str, Any] = {
        "change": found,
        "standing": page_words.standing(found.state),
        "tab": tab,
        "plan": page.read(found, plan, now) if plan is not None else None,
        "is_present": plan is not None and plan.pk == found.plan_id,
        "wanted": found.wanted.select_related("server") if plan is None else (),
        "box": page_actions.read(found, request.user, may, now),  # type: ignore[arg-type]
        "checks": checks or page_checks.of_plan(plan),
        "verdicts": verifying_page.read(found) if tab == "verify" else (),
        "history": page_history.read(found) if tab == "history" else (),
        "may_comment": page_actions.may_comment(may),
        "verdict": verdict or Verdict(),
        "schedule": schedule or Schedule(),
        "refresh": page.refresh_seconds(found),
        "read_at": now,
    }
    # The forms' secret differs in each answer, so that what is shown decides and not its text.
    reader = (request.user.pk, translation.get_language(), timezone.get_current_timezone_name(), sorted(may.roles))
    tag = tag_of(tab, asked, *page.stand_of(found, now), *reader) if tab != "verify" else ""
    not_modified = unchanged(request, tag) if tag else None
    if not_modified is not None:
        return not_modified
    return page_or_part(request, "changes/change.html", "changes/_change.html", context, tag=tag, status=status)


@login_required
@require_GET
def statements(request: HttpRequest, change_id: str, server_id: str, form: str) -> HttpResponse:
    """What the present plan does on one server, as a file."""
    found, _may = load(request, change_id)
    text = page_files.text_of(found, server_id, form)
    if text is None:
        raise Http404(_("There is no such file."))
    kind = "application/json" if form == "json" else "text/plain; charset=utf-8"
    response = HttpResponse(text, content_type=kind)
    name = f"change-{found.number}-{slugify(page_files.name_of(found, server_id)) or server_id}.{form}"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    response["Cache-Control"] = "private, no-store"
    return response
