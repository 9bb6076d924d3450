"""Inviting somebody into a team: a link that works once, within a week. Only a digest of it is kept."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.contrib.auth.models import User
from django.core.mail import send_mail
from django.db import transaction
from django.db.models import QuerySet
from django.urls import reverse
from django.utils.translation import gettext as _

from advisor.teams import members, services
from advisor.teams.audit import record
from advisor.teams.models import Invitation, Team
from advisor.teams.roles import Role

INVITATION_SECONDS = 7 * 86_400


@dataclass(frozen=True)
class NewInvitation:
    """An invitation just made; ``secret`` is shown once and stored nowhere."""

    invitation: Invitation
    secret: str
    mailed: bool


def address(secret: str) -> str:
    """The link, with the address that people use."""
    return str(settings.BASE_URL).rstrip("/") + reverse("invitation", args=[secret])


def roles_of(invitation: Invitation) -> list[Role]:
    """What it makes of whoever accepts it."""
    return [Role(name) for name in invitation.roles.split()]


def open_invitations(*, team: Team, now: datetime) -> QuerySet[Invitation]:
    """Those that may still be accepted, newest first."""
    return (
        Invitation.objects.filter(team=team, accepted_at__isnull=True, expires_at__gt=now)
        .select_related("invited_by")
        .order_by("-created_at")
    )


def invite(*, team: Team, email: str, roles: Iterable[Role], actor: User, now: datetime) -> NewInvitation:
    """A new invitation; its link goes out by mail where mail is set up, and is shown to the admin in any case."""
    secret = secrets.token_urlsafe(32)
    wanted = set(roles)
    with transaction.atomic():
        made = Invitation.objects.create(
            team=team,
            email=email,
            roles=" ".join(role.value for role in Role if role in wanted),
            digest=services.digest(secret),
            invited_by=actor,
            expires_at=now + timedelta(seconds=INVITATION_SECONDS),
        )
        record(
            team_id=team.pk,
            action="invitation.created",
            subject=f"{email} ({made.pk})",
            at=now,
            actor=actor,
            data={"roles": made.roles.split()},
        )
    return NewInvitation(made, secret, _mail(made, secret, actor))


def _mail(made: Invitation, secret: str, actor: User) -> bool:
    """Whether the link went out. A mail server that does not answer is no reason to have no invitation."""
    if not settings.EMAIL_HOST:
        return False
    subject = _("Invitation to %(team)s on Tidemark") % {"team": made.team.name}
    values = {"person": actor.get_username(), "team": made.team.name}
    lines = [
        _("%(person)s invites you to the team %(team)s on Tidemark.") % values,
        address(secret),
        _("The link works once, within a week."),
    ]
    try:
        return bool(send_mail(subject, "\n\n".join(lines), None, [made.email]))
    except OSError:
        return False


def find(*, secret: str, now: datetime) -> Invitation | None:
    """The open invitation of that link; None for one that is used, run out, withdrawn or unknown."""
    return (
        Invitation.objects.filter(digest=services.digest(secret), accepted_at__isnull=True, expires_at__gt=now)
        .select_related("team", "invited_by")
        .first()
    )


@transaction.atomic
def accept(*, secret: str, user: User, now: datetime) -> Team | None:
    """Makes the person a member with the invitation's roles; None where it is not open.

    The update names the open state, so of two at once only one gets in.
    """
    found = find(secret=secret, now=now)
    if found is None:
        return None
    spent = Invitation.objects.filter(pk=found.pk, accepted_at__isnull=True).update(accepted_at=now, accepted_by=user)
    if not spent:
        return None
    members.add_roles(user=user, team=found.team, roles=roles_of(found), now=now)
    record(
        team_id=found.team_id,
        action="invitation.accepted",
        subject=f"{found.email} ({found.pk})",
        at=now,
        actor=user,
        data={"roles": found.roles.split()},
    )
    return found.team


@transaction.atomic
def accept_as_new(*, secret: str, name: str, password: str, now: datetime) -> User | None:
    """Makes an account and accepts with it; None where the invitation is not open.

    Raises TeamsError for a name that cannot be used or is taken; then nothing was made.
    """
    found = find(secret=secret, now=now)
    if found is None:
        return None
    person = services.create_account(name=name, password=password, email=found.email)
    if accept(secret=secret, user=person, now=now) is None:
        transaction.set_rollback(True)
        return None
    return person


@transaction.atomic
def withdraw(*, team: Team, invitation_id: str, actor: User, now: datetime) -> bool:
    """Ends an open invitation; whether there was one."""
    found = open_invitations(team=team, now=now).filter(pk=invitation_id).first()
    if found is None:
        return False
    found.delete()
    record(
        team_id=team.pk,
        action="invitation.withdrawn",
        subject=f"{found.email} ({invitation_id})",
        at=now,
        actor=actor,
    )
    return True
