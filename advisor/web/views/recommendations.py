"""One recommendation: should I believe it, what does it cost, how is it done and undone."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from advisor.recommendations import assignments, services
from advisor.recommendations.models import Recommendation
from advisor.recommendations.states import WrongState
from advisor.teams import access
from advisor.teams.access import Access
from advisor.teams.roles import Action
from advisor.web import recommendation_page
from advisor.web.assignment_form import AssignmentForm, CommentForm
from advisor.web.forms import Dismissal


def load(request: HttpRequest, server_id: str, recommendation_id: str) -> tuple[Recommendation, Access]:
    rows = Recommendation.objects.filter(server_id=server_id).select_related("server", "server__team", "decided_by")
    found, may = access.get_visible(request.user, rows, recommendation_id, team="server__team")
    return found, may


def page(
    request: HttpRequest,
    row: Recommendation,
    may: Access,
    *,
    form: Dismissal | None = None,
    assignment_form: AssignmentForm | None = None,
    comment_form: CommentForm | None = None,
    status: int = 200,
) -> HttpResponse:
    """The page, with whichever form was filled wrongly."""
    present = assignments.of(row)
    context = {
        **recommendation_page.read(row),
        "form": form or Dismissal(),
        "assignment": present,
        "assignment_form": assignment_form
        or AssignmentForm(people=assignments.members(row.server.team_id), present=present),
        "comment_form": comment_form or CommentForm(auto_id="comment_%s"),
        "comments": row.comments.select_related("person"),
        "may_propose": may.may(Action.PROPOSE_CHANGE),
        "may_acknowledge": may.may(Action.ACKNOWLEDGE),
        "may_dismiss": may.may(Action.DISMISS),
    }
    return render(request, "web/recommendation.html", context, status=status)


@login_required
@require_GET
def recommendation(request: HttpRequest, server_id: str, recommendation_id: str) -> HttpResponse:
    row, may = load(request, server_id, recommendation_id)
    return page(request, row, may)


@login_required
@require_POST
def acknowledge(request: HttpRequest, server_id: str, recommendation_id: str) -> HttpResponse:
    row, may = load(request, server_id, recommendation_id)
    may.require(Action.ACKNOWLEDGE)
    try:
        services.acknowledge(recommendation=row, actor=request.user, now=timezone.now())  # type: ignore[arg-type]
        messages.success(request, _("Acknowledged: the others see that you take care of it."))
    except WrongState as wrong:
        messages.error(request, str(wrong))
    return redirect("recommendation", server_id, recommendation_id)


@login_required
@require_POST
def dismiss(request: HttpRequest, server_id: str, recommendation_id: str) -> HttpResponse:
    row, may = load(request, server_id, recommendation_id)
    may.require(Action.DISMISS)
    form = Dismissal(request.POST)
    if not form.is_valid():
        # The form stands at the end of the page: the reader is taken to what has to be put right.
        form.fields[next(iter(form.errors))].widget.attrs["autofocus"] = True
        return page(request, row, may, form=form, status=422)
    try:
        services.dismiss(
            recommendation=row,
            actor=request.user,  # type: ignore[arg-type]
            reason=form.cleaned_data["reason"],
            until=form.cleaned_data["until"],
            now=timezone.now(),
        )
        messages.success(request, _("Dismissed. It comes back if it gets markedly worse."))
    except (WrongState, ValueError) as wrong:
        messages.error(request, str(wrong))
    return redirect("recommendation", server_id, recommendation_id)


@login_required
@require_POST
def reopen(request: HttpRequest, server_id: str, recommendation_id: str) -> HttpResponse:
    row, may = load(request, server_id, recommendation_id)
    may.require(Action.DISMISS)
    try:
        services.reopen(recommendation=row, actor=request.user, now=timezone.now())  # type: ignore[arg-type]
        messages.success(request, _("Opened again."))
    except WrongState as wrong:
        messages.error(request, str(wrong))
    return redirect("recommendation", server_id, recommendation_id)
