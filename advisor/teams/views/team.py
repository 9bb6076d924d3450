"""The team's page: who is in it, as what, and who is invited."""

from __future__ import annotations

from typing import Any, cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from advisor.teams import access, invitations, members
from advisor.teams.forms import ROLE_WORDS, Invite, MemberRoles
from advisor.teams.models import Team
from advisor.teams.roles import Action, Role

_FRESH_LINK = "fresh_invitation"


def _team(request: HttpRequest, team_id: str) -> tuple[Team, access.Access]:
    """The team, for its members; Http404 for anybody else."""
    return access.get_own_team(request.user, team_id)


def _person(request: HttpRequest) -> User:
    return cast(User, request.user)


@login_required
@require_GET
def teams(request: HttpRequest) -> HttpResponse:
    """The reader's teams; where it is one, that one."""
    mine = list(access.teams_of(request.user))
    if len(mine) == 1:
        return redirect("team", mine[0].pk)
    return render(request, "teams/teams.html", {"teams": [(team, members.members_of(team=team)) for team in mine]})


def _page(request: HttpRequest, team: Team, allowed: access.Access, **more: Any) -> HttpResponse:
    may_manage = allowed.may(Action.MANAGE_TEAM)
    context: dict[str, Any] = {
        "team": team,
        "members": members.members_of(team=team),
        "may_manage": may_manage,
        "roles": [(role, ROLE_WORDS[role]) for role in Role],
        "invitations": list(invitations.open_invitations(team=team, now=timezone.now())) if may_manage else [],
        "invite": more.pop("invite", None) or Invite(initial={"roles": [Role.VIEWER.value]}),
        "link": request.session.pop(_FRESH_LINK, None) if may_manage and request.method == "GET" else None,
        **more,
    }
    return render(request, "teams/team.html", context, status=422 if request.method == "POST" else 200)


@login_required
@require_GET
def team(request: HttpRequest, team_id: str) -> HttpResponse:
    """One team, for its members."""
    return _page(request, *_team(request, team_id))


@login_required
@require_POST
def invite(request: HttpRequest, team_id: str) -> HttpResponse:
    """Invites somebody. The link is shown once, on the page that follows."""
    found, allowed = _team(request, team_id)
    allowed.require(Action.MANAGE_TEAM)
    form = Invite(request.POST)
    if not form.is_valid():
        return _page(request, found, allowed, invite=form)
    made = invitations.invite(
        team=found,
        email=form.cleaned_data["email"],
        roles=form.cleaned_data["roles"],
        actor=_person(request),
        now=timezone.now(),
    )
    request.session[_FRESH_LINK] = {
        "email": made.invitation.email,
        "address": invitations.address(made.secret),
        "mailed": made.mailed,
    }
    return redirect("team", found.pk)


@login_required
@require_POST
def withdraw(request: HttpRequest, team_id: str, invitation_id: str) -> HttpResponse:
    """Ends an invitation that nobody has accepted."""
    found, allowed = _team(request, team_id)
    allowed.require(Action.MANAGE_TEAM)
    if not invitations.withdraw(team=found, invitation_id=invitation_id, actor=_person(request), now=timezone.now()):
        raise Http404("There is no such invitation.")
    messages.success(request, _("The invitation is withdrawn: its link no longer works."))
    return redirect("team", found.pk)


def _member(team: Team, user_id: int) -> User:
    for member in members.members_of(team=team):
        if member.user.pk == user_id:
            return member.user
    raise Http404("There is no such member.")


@login_required
@require_POST
def member(request: HttpRequest, team_id: str, user_id: int) -> HttpResponse:
    """Gives a member other roles."""
    found, allowed = _team(request, team_id)
    allowed.require(Action.MANAGE_TEAM)
    person = _member(found, user_id)
    form = MemberRoles(request.POST)
    if not form.is_valid():
        messages.error(request, _("A member has at least one role. To take somebody off the team, remove them."))
        return redirect("team", found.pk)
    return _set(request, found, person, form.cleaned_data["roles"])


@login_required
@require_POST
def remove(request: HttpRequest, team_id: str, user_id: int) -> HttpResponse:
    """Takes a member off the team; their next request finds nothing of it any more."""
    found, allowed = _team(request, team_id)
    allowed.require(Action.MANAGE_TEAM)
    return _set(request, found, _member(found, user_id), [])


def _set(request: HttpRequest, team: Team, person: User, roles: list[Role]) -> HttpResponse:
    values = {"person": person.get_username(), "team": team.name}
    try:
        members.set_roles(user=person, team=team, roles=roles, now=timezone.now())
    except members.LastAdmin:
        messages.error(request, _("%(team)s would be left without an admin: make somebody else admin first.") % values)
        return redirect("team", team.pk)
    if roles:
        messages.success(request, _("The roles of %(person)s are changed, from their next request on.") % values)
    else:
        messages.success(request, _("%(person)s is no longer in %(team)s.") % values)
    still_in = access.access_to(request.user, team.pk)
    return redirect("team", team.pk) if still_in else redirect("fleet")
