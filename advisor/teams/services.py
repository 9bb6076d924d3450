"""The only writer of people, teams, login links and tokens."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from advisor.teams.models import ApiToken, LoginLink, Membership, Team
from advisor.teams.roles import Role

DEFAULT_TEAM = "Default"
LOGIN_LINK_SECONDS = 30 * 60
#: What a token begins with, so that a scanner for leaked secrets can know it.
TOKEN_PREFIX = "tm_"  # noqa: S105 -- the part that is the same for all tokens
_LAST_USED_STEP_SECONDS = 60


class TeamsError(Exception):
    """What was asked for cannot be done; the message says what is so and what to do."""


def _digest(secret: str) -> str:
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


@transaction.atomic
def create_user(*, name: str, team: Team, roles: Iterable[Role] = (), administrator: bool = False) -> User:
    """A new person with roles in a team; without any the smallest role, viewer.

    ``administrator`` adds the admin role and the right to name any address. The account has no password: the person
    comes in by a login link. Raises TeamsError for a name that cannot be used or is taken.
    """
    try:
        UnicodeUsernameValidator()(name)
    except ValidationError:
        raise TeamsError(f"{name!r} cannot be a name: use letters, digits and @ . + - _ only.") from None
    if len(name) > 150:
        raise TeamsError("A person's name has at most 150 characters.")
    if User.objects.filter(username__iexact=name).exists():
        raise TeamsError(f"There is already a person called {name!r}: login_link {name} prints a way in.")
    person = User(username=name, is_staff=administrator)
    person.set_unusable_password()
    try:
        with transaction.atomic():
            person.save()
    except IntegrityError:
        raise TeamsError(f"There is already a person called {name!r}: login_link {name} prints a way in.") from None
    wanted = set(roles) | ({Role.ADMIN} if administrator else set())
    for role in sorted(wanted or {Role.VIEWER}):
        add_role(user=person, team=team, role=role)
    return person


def add_role(*, user: User, team: Team, role: Role) -> Membership:
    """Gives a person a role in a team; giving it again changes nothing."""
    membership, _ = Membership.objects.get_or_create(user=user, team=team, role=role.value)
    return membership


def needs_login_link(*, user: User) -> bool:
    """Whether the person has no other way in yet."""
    return not user.has_usable_password()


def create_login_link(*, user: User, now: datetime) -> str:
    """A new secret that signs this person in once within 30 minutes. Links that have run out are thrown away
    meanwhile.
    """
    secret = secrets.token_urlsafe(32)
    LoginLink.objects.filter(expires_at__lt=now - timedelta(days=1)).delete()
    LoginLink.objects.create(user=user, digest=_digest(secret), expires_at=now + timedelta(seconds=LOGIN_LINK_SECONDS))
    return secret


def redeem_login_link(*, secret: str, now: datetime) -> User | None:
    """The person whom the link signs in, and the link is spent; None for one that is used, run out or unknown.

    The update names the unused state, so of two requests at once only one gets in.
    """
    digest = _digest(secret)
    spent = LoginLink.objects.filter(
        digest=digest, used_at__isnull=True, expires_at__gt=now, user__is_active=True
    ).update(used_at=now)
    if not spent:
        return None
    return LoginLink.objects.select_related("user").get(digest=digest).user


@dataclass(frozen=True)
class NewToken:
    """A token just made; ``text`` is shown once and stored nowhere."""

    token: ApiToken
    text: str


def create_token(*, user: User, name: str = "", expires_at: datetime | None = None) -> NewToken:
    """A token with all the person's rights."""
    text = TOKEN_PREFIX + secrets.token_urlsafe(32)
    token = ApiToken.objects.create(
        user=user, name=name.strip()[:100], prefix=text[:8], digest=_digest(text), expires_at=expires_at
    )
    return NewToken(token, text)


def user_of_token(*, text: str, now: datetime) -> User | None:
    """The person a token speaks for; None for one that is unknown, run out, or of somebody whose account is off."""
    token = ApiToken.objects.select_related("user").filter(digest=_digest(text)).first()
    if token is None or not token.user.is_active or (token.expires_at is not None and token.expires_at <= now):
        return None
    # A write for each request would make every reader a writer of the database: the minute is close enough.
    if token.last_used_at is None or now - token.last_used_at > timedelta(seconds=_LAST_USED_STEP_SECONDS):
        ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)
    return token.user


def delete_token(*, user: User, token_id: str) -> bool:
    """Ends one of the person's tokens; whether there was one."""
    return bool(ApiToken.objects.filter(user=user, pk=token_id).delete()[0])
