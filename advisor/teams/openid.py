"""Signing in through an OpenID Connect issuer. The issuer says who somebody is; whether they may come in is ours.

A person gets an account in two ways only: they follow an invitation, or one of their groups is named in
``TIDEMARK_OIDC_TEAMS``. Nobody is taken for an existing account because an address is the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialLogin
from django.conf import settings
from django.contrib.auth.models import User
from django.http import HttpRequest
from django.shortcuts import render
from django.utils import timezone

from advisor.teams import invitations, members, services
from advisor.teams.roles import Role

#: The session's key of an invitation that its bearer wants to accept with an account of the issuer.
INVITATION_KEY = "invitation"


@dataclass(frozen=True)
class GroupRoles:
    """What one of the issuer's groups is here."""

    group: str
    team: str
    roles: tuple[Role, ...]


class MappingError(ValueError):
    """An entry of ``TIDEMARK_OIDC_TEAMS`` that cannot be read."""


def read_mapping(entries: list[str]) -> list[GroupRoles]:
    """Entries such as ``dba=Databases:editor+approver``. Raises MappingError."""
    found = []
    for entry in entries:
        group, equals, rest = entry.partition("=")
        team, colon, roles = rest.rpartition(":")
        if not (equals and colon and group.strip() and team.strip()):
            raise MappingError(f"TIDEMARK_OIDC_TEAMS: {entry!r} is not group=team:role+role")
        try:
            wanted = tuple(Role(role.strip()) for role in roles.split("+"))
        except ValueError as error:
            raise MappingError(f"TIDEMARK_OIDC_TEAMS: in {entry!r} {error}") from None
        found.append(GroupRoles(group.strip(), team.strip(), wanted))
    return found


def claims(sociallogin: SocialLogin) -> dict[str, Any]:
    """What the issuer said of the person, from its user information and its token."""
    data = sociallogin.account.extra_data
    parts = [data.get("id_token"), data.get("userinfo")]
    if not any(isinstance(part, Mapping) for part in parts):
        parts = [data]
    return {name: value for part in parts if isinstance(part, Mapping) for name, value in part.items()}


def granted(said: Mapping[str, Any]) -> list[GroupRoles]:
    """The mapping's entries that the person's groups fit."""
    groups = said.get(settings.OIDC_GROUPS_CLAIM, [])
    if isinstance(groups, str):
        groups = [groups]
    mine = {str(group) for group in groups} if isinstance(groups, list | tuple) else set()
    return [entry for entry in read_mapping(settings.OIDC_TEAMS) if entry.group in mine]


class OpenIdAdapter(DefaultSocialAccountAdapter):
    """Lets in whom a team knows."""

    def is_open_for_signup(self, request: HttpRequest, sociallogin: SocialLogin) -> bool:
        """Whether the person holds an invitation or a mapped group."""
        return bool(granted(claims(sociallogin)) or self._invitation(request))

    def is_auto_signup_allowed(self, request: HttpRequest, sociallogin: SocialLogin) -> bool:
        """Without a form: the issuer said all that is needed. The address is not taken over, see ``save_user``."""
        sociallogin.email_addresses = []
        return True

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        """Refuses strangers with a page that says what to do, and gives known people what their groups grant."""
        if sociallogin.is_existing:
            self._grant(sociallogin.user, sociallogin)
        elif sociallogin.state.get("process") == "connect" or not self.is_open_for_signup(request, sociallogin):
            raise ImmediateHttpResponse(render(request, "account/not_invited.html", status=403))

    def save_user(self, request: HttpRequest, sociallogin: SocialLogin, form: Any = None) -> User:
        """Makes the account, and the memberships that let it in."""
        said = claims(sociallogin)
        invitation = self._invitation(request)
        user = sociallogin.user
        user.set_unusable_password()
        user.username = services.free_name(str(said.get("preferred_username") or said.get("email") or "person"))
        # An address is kept for mail only where the issuer vouches for it.
        user.email = str(said.get("email") or "")[:254] if said.get("email_verified") is True else ""
        sociallogin.save(request)
        if invitation:
            invitations.accept(secret=invitation, user=user, now=timezone.now())
            request.session.pop(INVITATION_KEY, None)
        self._grant(user, sociallogin)
        return user

    @staticmethod
    def _invitation(request: HttpRequest) -> str:
        """The invitation's secret, where one is open; else ""."""
        secret = str(request.session.get(INVITATION_KEY, ""))
        return secret if secret and invitations.find(secret=secret, now=timezone.now()) else ""

    @staticmethod
    def _grant(user: User, sociallogin: SocialLogin) -> None:
        for entry in granted(claims(sociallogin)):
            team = services.ensure_team(name=entry.team)
            members.add_roles(user=user, team=team, roles=entry.roles, now=timezone.now(), by_group=entry.group)
