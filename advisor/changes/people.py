"""Who is who: two accounts of one person are one person, and a role counts only where it is held now."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from allauth.account.models import EmailAddress
from django.contrib.auth.models import AbstractBaseUser, User

from advisor.teams.access import access_to
from advisor.teams.models import Membership
from advisor.teams.roles import ALLOWED, Action


def same_person(one: AbstractBaseUser | None, other: AbstractBaseUser | None) -> bool:
    """Whether two accounts belong to one person: the same account, or the same e-mail address without regard to case.

    An account that is gone (None) is nobody, and nobody is not the same as anybody.
    """
    if one is None or other is None:
        return False
    return one.pk == other.pk or bool(addresses_of(one) & addresses_of(other))


def addresses_of(person: AbstractBaseUser) -> frozenset[str]:
    """The person's e-mail addresses, folded so that spellings of one address are equal: the account's, and those that
    an issuer of single sign-on vouched for.
    """
    vouched = EmailAddress.objects.filter(user_id=person.pk, verified=True).values_list("email", flat=True)
    return frozenset(filter(None, map(folded, [str(getattr(person, "email", "")), *vouched])))


def folded(address: str) -> str:
    """An address as it is compared. The part before the @ is folded, too: no mail system in use tells cases apart."""
    return address.strip().casefold()


def may(person: AbstractBaseUser | None, action: Action, team_id: str) -> bool:
    """Whether the person, active and in the team now, may do it. Superusers are nobody special."""
    if person is None:
        return False
    fresh = User.objects.filter(pk=person.pk, is_active=True).first()
    access = None if fresh is None else access_to(fresh, team_id)
    return access is not None and access.may(action)


def roles_of(person: AbstractBaseUser | None, team_id: str) -> frozenset[str]:
    """The roles that an active person holds in the team now."""
    if person is None:
        return frozenset()
    return frozenset(
        Membership.objects.filter(user_id=person.pk, user__is_active=True, team_id=team_id).values_list(
            "role", flat=True
        )
    )


def holders_of(action: Action, team_id: str) -> Iterable[Any]:
    """The active people of a team who may do it, by name."""
    roles = [role.value for role, allowed in ALLOWED.items() if action in allowed]
    members = Membership.objects.filter(team_id=team_id, role__in=roles).values("user_id")
    return User.objects.filter(pk__in=members, is_active=True).order_by("username")
