"""The only place that answers "may this person do this here".

Everything a person may touch is found by starting from the person: who is no member of an object's team is told that
there is no such object, so that its existence is not revealed; who is a member with too small a role is told so, to
know whom to ask.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar, cast

from django.apps import apps
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, User
from django.core.exceptions import PermissionDenied
from django.db.models import Model, QuerySet
from django.http import Http404

from advisor.teams.models import Membership, Team
from advisor.teams.roles import ALLOWED, Action, Role
from advisor.teams.scopes import Scope, actions_of

Person = User | AbstractBaseUser | AnonymousUser
ObjectT = TypeVar("ObjectT", bound=Model)


@dataclass(frozen=True)
class Access:
    """What one person may do to one team's objects. ``scopes`` narrow it where a token speaks for the person."""

    team_id: str
    roles: frozenset[Role]
    scopes: frozenset[Scope] | None = None

    def may(self, action: Action) -> bool:
        """Whether any of the person's roles allows the action. Raises TypeError for what is not an Action."""
        if not isinstance(action, Action):
            raise TypeError(f"{action!r} is not an action")
        if self.scopes is not None and action not in actions_of(self.scopes):
            return False
        return any(action in ALLOWED[role] for role in self.roles)

    def require(self, action: Action) -> None:
        """Raises PermissionDenied, with a sentence that names the roles which would do, where the action is not
        allowed.
        """
        if not self.may(action):
            if any(action in ALLOWED[role] for role in self.roles):
                wanted = ", ".join(scope.value for scope in Scope if action in actions_of({scope}))
                raise PermissionDenied(
                    f"This token's scopes do not allow this. It takes one of: {wanted or 'a token without scopes'}."
                )
            enough = ", ".join(role.value for role in Role if action in ALLOWED[role])
            raise PermissionDenied(f"Your roles do not allow this. It takes one of: {enough}.")


def is_known(user: Person) -> bool:
    """Whether it is a person with an account that is not switched off."""
    return bool(user.is_authenticated and user.is_active)


def scopes_of(user: Person) -> frozenset[Scope] | None:
    """The scopes of the token that speaks for the person in this request; None where nothing narrows their rights.

    They travel with the person, so that no view and no service can forget them.
    """
    return cast("frozenset[Scope] | None", getattr(user, "token_scopes", None))


def _may_see(user: Person) -> bool:
    scopes = scopes_of(user)
    return is_known(user) and (scopes is None or Action.SEE in actions_of(scopes))


def teams_of(user: Person) -> QuerySet[Team]:
    """The person's teams, by name."""
    if not _may_see(user):
        return Team.objects.none()
    return Team.objects.filter(pk__in=Membership.objects.filter(user=cast(User, user)).values("team_id")).order_by(
        "folded"
    )


def access_to(user: Person, team_id: str) -> Access | None:
    """The person's roles in a team, narrowed by the token that speaks for them; None for an outsider."""
    if not _may_see(user):
        return None
    roles = frozenset(
        Role(role)
        for role in Membership.objects.filter(user=cast(User, user), team_id=team_id).values_list("role", flat=True)
    )
    return Access(team_id, roles, scopes_of(user)) if roles else None


def visible(user: Person, objects: QuerySet[ObjectT], *, team: str = "team") -> QuerySet[ObjectT]:
    """Those of the objects that belong to the person's teams; ``team`` is the path of their team's field.

    A subquery instead of a join over memberships, since a person with two roles would see each object twice.
    """
    return objects.filter(**{f"{team}__in": teams_of(user).order_by().values("pk")})


def get_visible(
    user: Person, objects: QuerySet[ObjectT], object_id: object, *, team: str = "team"
) -> tuple[ObjectT, Access]:
    """One object and what the person may do to it. Raises Http404 where there is none that the person may see."""
    found = visible(user, objects, team=team).filter(pk=object_id).first()
    if found is None:
        raise Http404("There is nothing here that you may see.")
    owner: Any = found
    for name in team.split("__"):
        owner = getattr(owner, name)
    access = access_to(user, owner.pk)
    if access is None:
        raise Http404("There is nothing here that you may see.")
    return found, access


def get_own_team(user: Person, team_id: str) -> tuple[Team, Access]:
    """One of the person's teams and what they may do in it. Raises Http404 for outsiders."""
    found = teams_of(user).filter(pk=team_id).first()
    access = access_to(user, team_id)
    if found is None or access is None:
        raise Http404("There is nothing here that you may see.")
    return found, access


def servers_for(user: Person) -> QuerySet[Any]:
    """The servers (``collector.Server``) of the person's teams, by name.

    The model is named by its label, as foreign keys do: this room lies below the collector and may not import it.
    """
    return visible(user, apps.get_model("collector", "Server")._default_manager.select_related("team")).order_by(
        "folded", "pk"
    )


def get_server(user: Person, server_id: str) -> tuple[Any, Access]:
    """A server and what the person may do to it. Raises Http404 for outsiders."""
    return get_visible(user, servers_for(user), server_id)


def team_for(user: Person, action: Action, name: str = "") -> tuple[Team, Access]:
    """The team in which the person wants to do something: the named one (its id or name), else the only one.

    Raises Http404 for a team of others, PermissionDenied where the role is too small, AmbiguousTeam where the person
    is in several teams that would do and named none.
    """
    candidates = list(teams_of(user))
    if name:
        candidates = [team for team in candidates if name == team.pk or name.casefold() == team.folded]
    if not candidates:
        raise Http404(
            "You are in no such team." if name else "You are in no team: ask an administrator for a role in one."
        )
    allowed = [(team, access) for team in candidates if (access := access_to(user, team.pk)) and access.may(action)]
    if not allowed:
        refused = access_to(user, candidates[0].pk)
        if refused is None:
            raise Http404("You are in no such team.")
        refused.require(action)
    if len(allowed) > 1:
        raise AmbiguousTeam([team.name for team, _ in allowed])
    return allowed[0]


def may_name_any_address(user: Person) -> bool:
    """Whether the person may register servers at loopback addresses, sockets and any port: administrators of Tidemark
    itself, and by token only where its scopes include ``admin``.
    """
    scopes = scopes_of(user)
    return is_known(user) and bool(getattr(user, "is_staff", False)) and (scopes is None or Scope.ADMIN in scopes)


class AmbiguousTeam(Exception):
    """Several teams would do; the message lists them."""

    def __init__(self, names: list[str]) -> None:
        super().__init__(f"You are in several teams: name one of {', '.join(names)}.")
