"""Who takes care of a recommendation, until when, and what is said of it."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from advisor.recommendations import assignments
from advisor.recommendations.assignments import BadAssignment
from advisor.teams.roles import Action
from advisor.web.assignment_form import AssignmentForm, CommentForm
from advisor.web.views.recommendations import load, page


@login_required
@require_POST
def assign(request: HttpRequest, server_id: str, recommendation_id: str) -> HttpResponse:
    row, may = load(request, server_id, recommendation_id)
    may.require(Action.ACKNOWLEDGE)
    present = assignments.of(row)
    form = AssignmentForm(request.POST, people=assignments.members(row.server.team_id), present=present)
    if form.is_valid():
        try:
            assignments.assign(
                recommendation=row,
                assignee=form.person(),
                due_on=form.cleaned_data["due_on"],
                ticket=form.cleaned_data["ticket"],
                actor=request.user,  # type: ignore[arg-type]
                now=timezone.now(),
            )
        except BadAssignment as wrong:
            form.add_error(wrong.field, str(wrong))
    if not form.is_valid():
        return page(request, row, may, assignment_form=form, status=422)
    messages.success(request, _("Written down."))
    return redirect(f"{reverse('recommendation', args=[server_id, recommendation_id])}#care")


@login_required
@require_POST
def comment(request: HttpRequest, server_id: str, recommendation_id: str) -> HttpResponse:
    row, may = load(request, server_id, recommendation_id)
    may.require(Action.ACKNOWLEDGE)
    form = CommentForm(request.POST)
    if not form.is_valid():
        return page(request, row, may, comment_form=form, status=422)
    written = assignments.comment(
        recommendation=row,
        text=form.cleaned_data["text"],
        actor=request.user,  # type: ignore[arg-type]
        now=timezone.now(),
    )
    return redirect(f"{reverse('recommendation', args=[server_id, recommendation_id])}#comment-{written.pk}")
