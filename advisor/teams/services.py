"""The only writer of people, teams, login links and tokens."""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from allauth.account.signals import password_changed
from allauth.mfa.adapter import get_adapter
from allauth.mfa.models import Authenticator
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.models import User
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.http import HttpRequest
from django.utils import timezone

from advisor.teams.audit import record
from advisor.teams.models import ApiToken, LoginLink, Membership, Team
from advisor.teams.roles import Role
from advisor.teams.scopes import Scope, read_scopes, write_scopes

DEFAULT_TEAM = "Default"
LOGIN_LINK_SECONDS = 30 * 60
#: What a token begins with, so that a scanner for leaked secrets can know it.
TOKEN_PREFIX = "tm_"  # noqa: S105 -- the part that is the same for all tokens
_LAST_USED_STEP_SECONDS = 60


class TeamsError(Exception):
    """What was asked for cannot be done; the message says what is so and what to do."""


def digest(secret: str) -> str:
    """SHA-256 without salt or stretching is enough: the secrets have 256 random bits, so there is nothing to guess."""
    return hashlib.sha256(secret.encode("utf-8")).hexdigest()


@transaction.atomic
def ensure_team(*, name: str = "") -> Team:
    """The team of that name, made where there is none yet; without a name the only team, made on first use.

    Raises TeamsError where no name is given and there are several teams.
    """
    name = name.strip()
    if not name:
        teams = list(Team.objects.order_by("created_at")[:2])
        if len(teams) == 1:
            return teams[0]
        if len(teams) > 1:
            names = ", ".join(Team.objects.order_by("folded").values_list("name", flat=True))
            raise TeamsError(f"There are several teams: name one of {names} with --team.")
        name = DEFAULT_TEAM
    if len(name) > 100 or not name.isprintable() or "/" in name:
        raise TeamsError("A team's name has at most 100 printable characters and no slash.")
    team, _ = Team.objects.get_or_create(folded=name.casefold(), defaults={"name": name})
    return team


def get_team(*, name: str = "") -> Team:
    """The team of that name, or the only one; the first one is made on first use.

    Raises TeamsError where there is none of that name: a slip of the pen must not put a server out of sight.
    """
    if name.strip() and Team.objects.exists():
        found = Team.objects.filter(folded=name.strip().casefold()).first()
        if found is None:
            names = ", ".join(Team.objects.order_by("folded").values_list("name", flat=True))
            raise TeamsError(f"There is no team called {name.strip()!r}. Known: {names} (create_user makes new ones).")
        return found
    return ensure_team(name=name)


def find_person(*, name: str) -> User:
    """The person of that name, without regard to case. Raises TeamsError where there is none."""
    person = User.objects.filter(username__iexact=name).first()
    if person is None:
        raise TeamsError(f"There is no person called {name!r}: make one with create_user.")
    return person


def free_name(wanted: str) -> str:
    """A name that nobody has yet, as near to the wanted one as it can be."""
    letters = re.sub(r"[^\w.@+-]", "", wanted)[:140] or "person"
    name, number = letters, 2
    while User.objects.filter(username__iexact=name).exists():
        name, number = f"{letters}-{number}", number + 1
    return name


@transaction.atomic
def create_account(*, name: str, password: str | None = None, email: str = "", administrator: bool = False) -> User:
    """A new person who is in no team yet. Without a password they come in by a login link.

    Raises TeamsError for a name that cannot be used or is taken.
    """
    try:
        UnicodeUsernameValidator()(name)
    except ValidationError:
        raise TeamsError(f"{name!r} cannot be a name: use letters, digits and @ . + - _ only.") from None
    if len(name) > 150:
        raise TeamsError("A person's name has at most 150 characters.")
    taken = f"There is already a person called {name!r}: login_link {name} prints a way in."
    if User.objects.filter(username__iexact=name).exists():
        raise TeamsError(taken)
    person = User(username=name, email=email, is_staff=administrator)
    person.set_password(password)
    try:
        with transaction.atomic():
            person.save()
    except IntegrityError:
        raise TeamsError(taken) from None
    record(
        team_id=None,
        action="person.created",
        subject=f"{person.username} ({person.pk})",
        at=timezone.now(),
        data={"administrator": administrator},
    )
    return person


@transaction.atomic
def create_user(*, name: str, team: Team, roles: Iterable[Role] = (), administrator: bool = False) -> User:
    """A new person with roles in a team; without any the smallest role, viewer.

    ``administrator`` adds the admin role and the right to name any address. The account has no password: the person
    comes in by a login link. Raises TeamsError for a name that cannot be used or is taken.
    """
    person = create_account(name=name, administrator=administrator)
    wanted = set(roles) | ({Role.ADMIN} if administrator else set())
    for role in sorted(wanted or {Role.VIEWER}):
        add_role(user=person, team=team, role=role)
    return person


@transaction.atomic
def add_role(*, user: User, team: Team, role: Role) -> Membership:
    """Gives a person a role in a team; giving it again changes nothing."""
    membership, made = Membership.objects.get_or_create(user=user, team=team, role=role.value)
    if made:
        record(
            team_id=team.pk,
            action="member.role_given",
            subject=f"{user.get_username()} ({user.pk})",
            at=timezone.now(),
            data={"role": role.value},
        )
    return membership


@transaction.atomic
def set_password(*, request: HttpRequest, user: User, password: str) -> None:
    """A new password. Every session of the person ends but the one it is set in, which gets a new key."""
    user.set_password(password)
    user.save(update_fields=["password"])
    update_session_auth_hash(request, user)
    password_changed.send(sender=User, request=request, user=user)


@transaction.atomic
def forget_second_factor(*, user: User) -> None:
    """Removes apps, keys and recovery codes of somebody who lost them. Each removal is recorded by its own row."""
    for factor in Authenticator.objects.filter(user=user):
        factor.delete()


@transaction.atomic
def seal_second_factors_anew() -> int:
    """Encrypts the secrets of apps and recovery codes with the first credential key; how many were.

    Part of rotating the credential keys: afterwards an old one may go.
    """
    adapter, count = get_adapter(), 0
    for factor in Authenticator.objects.select_for_update():
        sealed = {name: factor.data[name] for name in ("secret", "seed") if name in factor.data}
        for name, text in sealed.items():
            factor.data[name] = adapter.encrypt(adapter.decrypt(text))
            count += 1
        if sealed:
            factor.save(update_fields=["data"])
    return count


def needs_login_link(*, user: User) -> bool:
    """Whether the person has no other way in yet: no password, no passkey, no account of an OpenID Connect issuer."""
    if user.has_usable_password() or user.socialaccount_set.exists():  # type: ignore[attr-defined]
        return False
    keys = Authenticator.objects.filter(user=user, type=Authenticator.Type.WEBAUTHN)
    return not any(key.wrap().is_passwordless for key in keys)


def create_login_link(*, user: User, now: datetime) -> str:
    """A new secret that signs this person in once within 30 minutes. Links that have run out are thrown away
    meanwhile.
    """
    secret = secrets.token_urlsafe(32)
    LoginLink.objects.filter(expires_at__lt=now - timedelta(days=1)).delete()
    LoginLink.objects.create(user=user, digest=digest(secret), expires_at=now + timedelta(seconds=LOGIN_LINK_SECONDS))
    return secret


def redeem_login_link(*, secret: str, now: datetime) -> User | None:
    """The person whom the link signs in, and the link is spent; None for one that is used, run out or unknown.

    The update names the unused state, so of two requests at once only one gets in.
    """
    sought = digest(secret)
    spent = LoginLink.objects.filter(
        digest=sought, used_at__isnull=True, expires_at__gt=now, user__is_active=True
    ).update(used_at=now)
    if not spent:
        return None
    return LoginLink.objects.select_related("user").get(digest=sought).user


@dataclass(frozen=True)
class NewToken:
    """A token just made; ``text`` is shown once and stored nowhere."""

    token: ApiToken
    text: str


@transaction.atomic
def create_token(
    *, user: User, name: str = "", scopes: Iterable[Scope] = (), expires_at: datetime | None = None
) -> NewToken:
    """A token with the person's rights, narrowed to these scopes where any are given."""
    text = TOKEN_PREFIX + secrets.token_urlsafe(32)
    token = ApiToken.objects.create(
        user=user,
        name=name.strip()[:100],
        prefix=text[:8],
        digest=digest(text),
        scopes=write_scopes(scopes),
        expires_at=expires_at,
    )
    record(
        team_id=None,
        action="token.created",
        subject=f"token {token.prefix}… ({token.pk}) of {user.get_username()}",
        at=token.created_at,
        data={
            "name": token.name,
            "scopes": token.scopes.split() or ["all"],
            "expires_at": expires_at.isoformat() if expires_at else None,
        },
    )
    return NewToken(token, text)


def user_of_token(*, text: str, now: datetime) -> User | None:
    """The person a token speaks for, carrying its scopes to where rights are asked; None for one that is unknown, run
    out, or of somebody whose account is off.
    """
    token = ApiToken.objects.select_related("user").filter(digest=digest(text)).first()
    if token is None or not token.user.is_active or (token.expires_at is not None and token.expires_at <= now):
        return None
    # A write for each request would make every reader a writer of the database: the minute is close enough.
    if token.last_used_at is None or now - token.last_used_at > timedelta(seconds=_LAST_USED_STEP_SECONDS):
        ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)
    # "" is no limit; anything else is one, also words that nobody knows any more.
    person = token.user
    person.token_scopes = read_scopes(token.scopes) if token.scopes else None  # type: ignore[attr-defined]
    return person


@transaction.atomic
def delete_token(*, user: User, token_id: str, now: datetime) -> bool:
    """Ends one of the person's tokens; whether there was one."""
    token = ApiToken.objects.filter(user=user, pk=token_id).first()
    if token is None:
        return False
    token.delete()
    record(
        team_id=None,
        action="token.revoked",
        subject=f"token {token.prefix}… ({token_id}) of {user.get_username()}",
        at=now,
        data={"name": token.name},
    )
    return True
