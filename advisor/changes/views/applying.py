"""Apply, roll back, keep: what changes servers, or says that what changed stays."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from advisor.changes import applying, page, page_words, states, verifying
from advisor.changes.views.loading import load
from advisor.changes.views.refusals import REFUSALS, refused, second_factor
from advisor.teams.roles import Action


@login_required
@require_POST
def apply(request: HttpRequest, change_id: str) -> HttpResponse:
    found, may = load(request, change_id)
    may.require(Action.APPLY_CHANGE)
    if (elsewhere := second_factor(request, found)) is not None:
        return elsewhere
    try:
        applying.begin(request=found, actor=request.user, now=timezone.now())  # type: ignore[arg-type]
    except REFUSALS as wrong:
        return refused(request, found, wrong)
    messages.success(request, _("Under way: this page follows each statement."))
    return redirect("change", found.pk)


@login_required
@require_http_methods(["GET", "POST"])
def roll_back(request: HttpRequest, change_id: str) -> HttpResponse:
    """A GET shows what exactly would be put back; the POST does it."""
    found, may = load(request, change_id)
    may.require(Action.APPLY_CHANGE)
    if found.plan is None or not states.can(found, states.Step.BEGIN_ROLL_BACK):
        messages.error(request, _("There is nothing to roll back in the state it is in now."))
        return redirect("change", found.pk)
    if request.method == "GET":
        context = {
            "change": found,
            "standing": page_words.standing(found.state),
            "plan": page.read(found, found.plan, timezone.now()),
        }
        return render(request, "changes/roll_back.html", context)
    if (elsewhere := second_factor(request, found)) is not None:
        return elsewhere
    try:
        applying.roll_back(request=found, actor=request.user, now=timezone.now())  # type: ignore[arg-type]
    except REFUSALS as wrong:
        return refused(request, found, wrong)
    messages.success(request, _("Being rolled back: this page follows each statement."))
    return redirect("change", found.pk)


@login_required
@require_POST
def keep(request: HttpRequest, change_id: str) -> HttpResponse:
    found, may = load(request, change_id)
    may.require(Action.APPLY_CHANGE)
    try:
        verifying.keep(request=found, actor=request.user, now=timezone.now())  # type: ignore[arg-type]
    except REFUSALS as wrong:
        return refused(request, found, wrong)
    messages.success(request, _("Kept."))
    return redirect("change", found.pk)
