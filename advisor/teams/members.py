"""The only writer of who is what in a team, as its admins want it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction

from advisor.teams.audit import record
from advisor.teams.models import Membership, Team
from advisor.teams.roles import Role
from advisor.teams.services import TeamsError


class LastAdmin(TeamsError):
    """A team must not be left without anybody who may manage it."""

    def __init__(self, team: Team) -> None:
        super().__init__(f"{team.name} would be left without an admin: make somebody else admin first.")


@dataclass(frozen=True)
class Member:
    """One person of a team."""

    user: User
    roles: tuple[Role, ...]


def members_of(*, team: Team) -> list[Member]:
    """Everybody of the team by name, with their roles in the order of the enumeration."""
    held: dict[User, set[Role]] = {}
    for row in Membership.objects.filter(team=team).select_related("user").order_by("user__username"):
        held.setdefault(row.user, set()).add(Role(row.role))
    return [Member(user, tuple(role for role in Role if role in roles)) for user, roles in held.items()]


def _roles_of(user: User, team: Team) -> set[Role]:
    return {Role(role) for role in Membership.objects.filter(user=user, team=team).values_list("role", flat=True)}


def _keep_an_admin(team: Team) -> None:
    """Raises LastAdmin where no admin is left whose account works. Called inside the transaction, which then fails."""
    if not Membership.objects.filter(team=team, role=Role.ADMIN.value, user__is_active=True).exists():
        raise LastAdmin(team)


def _lock(team: Team) -> None:
    """One at a time per team: two admins who remove each other at once must not both succeed."""
    Team.objects.select_for_update().get(pk=team.pk)


@transaction.atomic
def set_roles(*, user: User, team: Team, roles: Iterable[Role], now: datetime) -> None:
    """Gives a person exactly these roles in the team; none removes them from it.

    It holds from their next request on: rights are asked of the database each time. Raises LastAdmin.
    """
    _lock(team)
    before, wanted = _roles_of(user, team), set(roles)
    if before == wanted:
        return
    Membership.objects.filter(user=user, team=team, role__in=[role.value for role in before - wanted]).delete()
    for role in sorted(wanted - before):
        Membership.objects.create(user=user, team=team, role=role.value)
    if Role.ADMIN in before - wanted:
        _keep_an_admin(team)
    record(
        team_id=team.pk,
        action="member.removed" if not wanted else "member.roles_changed",
        subject=f"{user.get_username()} ({user.pk})",
        at=now,
        data={"before": sorted(before), "after": sorted(wanted)},
    )


@transaction.atomic
def add_roles(*, user: User, team: Team, roles: Iterable[Role], now: datetime, by_group: str = "") -> None:
    """Gives a person these roles besides what they hold; ``by_group`` names the issuer's group that grants them."""
    _lock(team)
    before = _roles_of(user, team)
    wanted = set(roles) - before
    for role in sorted(wanted):
        Membership.objects.create(user=user, team=team, role=role.value)
    if wanted:
        record(
            team_id=team.pk,
            action="member.roles_changed",
            subject=f"{user.get_username()} ({user.pk})",
            at=now,
            data={"before": sorted(before), "after": sorted(before | wanted), "by_group": by_group},
        )
