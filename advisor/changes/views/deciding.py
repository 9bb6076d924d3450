"""Steps that people make: submit, review, withdraw, schedule. Each view calls one service and says what came of it."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from advisor.changes import page_checks, services
from advisor.changes.forms import Schedule, Verdict
from advisor.changes.models import ChangeRequest
from advisor.changes.views.loading import load
from advisor.changes.views.refusals import REFUSALS, refused, second_factor
from advisor.changes.views.showing import shown
from advisor.teams.roles import Action


@login_required
@require_POST
def submit(request: HttpRequest, change_id: str) -> HttpResponse:
    found, may = load(request, change_id)
    may.require(Action.PROPOSE_CHANGE)
    return submitted(request, found)


def submitted(request: HttpRequest, found: ChangeRequest) -> HttpResponse:
    """Reads the servers, makes the plan and asks for a review; where that cannot be, the page's checks say why."""
    try:
        services.submit(request=found, actor=request.user, now=timezone.now())  # type: ignore[arg-type]
    except services.NotReady as wrong:
        messages.error(request, _("Not submitted: first what is marked ✖ has to be put right. Nothing is lost."))
        found, may = load(request, found.pk)
        checks = page_checks.failed([one.document() for one in wrong.checks])
        return shown(request, found, may, checks=checks, status=422)
    except REFUSALS as wrong:
        return refused(request, found, wrong)
    messages.success(request, _("Submitted: this plan is what is reviewed, approved and applied."))
    return redirect("change", found.pk)


@login_required
@require_POST
def review(request: HttpRequest, change_id: str) -> HttpResponse:
    found, may = load(request, change_id)
    form = Verdict(request.POST)
    verdict = request.POST.get("verdict", "")
    # Whoever takes part may comment; a verdict takes the role.
    if verdict != "comment" or not any(may.may(one) for one in (Action.PROPOSE_CHANGE, Action.APPLY_CHANGE)):
        may.require(Action.REVIEW_CHANGE)
    if not form.is_valid():
        return shown(request, found, may, verdict=form, status=422)
    if verdict == "approve" and (elsewhere := second_factor(request, found)) is not None:
        return elsewhere
    try:
        services.review(
            request=found,
            actor=request.user,  # type: ignore[arg-type]
            verdict=verdict,
            text=form.cleaned_data["text"],
            plan_hash=form.cleaned_data["plan_hash"],
            line=form.cleaned_data["line"],
            now=timezone.now(),
        )
    except REFUSALS as wrong:
        return refused(request, found, wrong)
    said = {
        "approve": _("Approved: exactly the plan that was on the page."),
        "request_changes": _("Changes are requested: the author is told."),
    }
    if verdict in said:
        messages.success(request, said[verdict])
    line = form.cleaned_data["line"].replace("/", "-")
    return redirect(f"{reverse('change', args=[found.pk])}{f'#line-{line}' if line else ''}")


@login_required
@require_POST
def withdraw(request: HttpRequest, change_id: str) -> HttpResponse:
    found, may = load(request, change_id)
    may.require(Action.PROPOSE_CHANGE)
    try:
        services.withdraw(request=found, actor=request.user, now=timezone.now())  # type: ignore[arg-type]
    except REFUSALS as wrong:
        return refused(request, found, wrong)
    messages.success(request, _("Withdrawn: nothing of it is done."))
    return redirect("change", found.pk)


@login_required
@require_POST
def schedule(request: HttpRequest, change_id: str) -> HttpResponse:
    found, may = load(request, change_id)
    may.require(Action.APPLY_CHANGE)
    form = Schedule(request.POST)
    at = None
    if "unschedule" not in request.POST:
        if not form.is_valid():
            return shown(request, found, may, schedule=form, status=422)
        if (elsewhere := second_factor(request, found)) is not None:
            return elsewhere
        at = form.cleaned_data["at"]
    try:
        services.schedule(request=found, actor=request.user, at=at, now=timezone.now())  # type: ignore[arg-type]
    except REFUSALS as wrong:
        return refused(request, found, wrong)
    if at is not None:
        messages.success(request, _("Scheduled: every condition is looked at again when it begins."))
    return redirect("change", found.pk)
