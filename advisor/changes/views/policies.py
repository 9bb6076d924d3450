"""What a team demands of changes to its servers, tag by tag; for admins."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from advisor.changes import page_policies, services
from advisor.changes.forms_policies import PolicyForm, initial_of
from advisor.changes.models import Policy
from advisor.changes.requests import BadRequest
from advisor.teams import access
from advisor.teams.models import Team
from advisor.teams.roles import Action


def _teams(request: HttpRequest) -> list[Team]:
    """The teams whose policies the person may set. Raises PermissionDenied for a member of none of them."""
    mine = list(access.teams_of(request.user))
    found = [team for team in mine if (one := access.access_to(request.user, team.pk)) and one.may(Action.SET_POLICIES)]
    if not found:
        first = access.access_to(request.user, mine[0].pk) if mine else None
        if first is None:
            raise Http404("You are in no team.")
        first.require(Action.SET_POLICIES)
    return found


@login_required
@require_GET
def policies(request: HttpRequest) -> HttpResponse:
    teams = _teams(request)
    team = next((one for one in teams if one.pk == request.GET.get("team")), teams[0])
    asked = request.GET.get("edit", "")
    edited = (
        Policy.objects.filter(team=team, pk=int(asked)).first() if asked.isascii() and asked[:9].isdigit() else None
    )
    form = PolicyForm(initial=initial_of(edited)) if edited is not None else PolicyForm()
    return _page(request, teams, team, form, edited)


@login_required
@require_POST
def set_policy(request: HttpRequest) -> HttpResponse:
    teams = _teams(request)
    team = next((one for one in teams if one.pk == request.POST.get("team")), None)
    if team is None and "team" in request.POST:
        raise Http404("There is no such team of yours.")
    team = team or teams[0]
    form = PolicyForm(request.POST)
    if form.is_valid():
        try:
            services.set_policy(
                team=team,
                actor=request.user,  # type: ignore[arg-type]
                now=timezone.now(),
                tag=form.cleaned_data["tag"],
                **form.values(),
            )
        except BadRequest as wrong:
            for field, sentence in wrong.errors.items():
                form.add_error(field if field in form.fields else None, sentence)
    if not form.is_valid():
        return _page(request, teams, team, form, None, status=422)
    messages.success(request, _("From now on. Plans that were approved before keep what is stricter of both."))
    return redirect("policies")


@login_required
@require_POST
def delete_policy(request: HttpRequest, policy_id: int) -> HttpResponse:
    found, may = access.get_visible(request.user, Policy.objects.select_related("team"), policy_id)
    may.require(Action.SET_POLICIES)
    services.delete_policy(policy=found, actor=request.user, now=timezone.now())  # type: ignore[arg-type]
    messages.success(request, _("Deleted: what the other policies demand is what counts."))
    return redirect("policies")


def _page(
    request: HttpRequest, teams: list[Team], team: Team, form: PolicyForm, edited: Policy | None, *, status: int = 200
) -> HttpResponse:
    context = {
        "teams": teams,
        "chosen": team,
        "policies": page_policies.read(team),
        "default": page_policies.default_words(),
        "form": form,
        "edited": edited,
    }
    return render(request, "changes/policies.html", context, status=status)
