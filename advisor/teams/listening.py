"""What signing in leaves in the audit: who came, who did not, and what changed about how they come in."""

from __future__ import annotations

from typing import Any

from allauth.account.internal.flows.login import record_authentication
from allauth.account.signals import password_changed
from allauth.mfa import signals as factors
from allauth.mfa.models import Authenticator
from django.contrib.auth.models import AbstractBaseUser, User
from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.db.models.signals import post_delete, post_save
from django.dispatch import receiver
from django.http import HttpRequest
from django.utils import timezone

from advisor.teams.audit import record


def _subject(user: AbstractBaseUser) -> str:
    return f"{user.get_username()} ({user.pk})"


def _keep(action: str, user: AbstractBaseUser, **data: Any) -> None:
    record(team_id=None, action=action, subject=_subject(user), at=timezone.now(), actor=user, data=data)


@receiver(user_logged_in, dispatch_uid="teams.audit_sign_in")
def signed_in(sender: object, request: HttpRequest | None, user: AbstractBaseUser, **kwargs: Any) -> None:
    """Which ways it took stands beside it: link, password, second factor, issuer."""
    # Django's test client and commands sign in without a request that has been anywhere.
    if request is None or not getattr(request, "path", ""):
        return
    records = request.session.get("account_authentication_methods", []) if hasattr(request, "session") else []
    by = [str(one.get("type") or one.get("method")) for one in records]
    _keep("session.signed_in", user, by=by or ["link"])


@receiver(user_logged_out, dispatch_uid="teams.audit_sign_out")
def signed_out(sender: object, request: HttpRequest, user: AbstractBaseUser | None, **kwargs: Any) -> None:
    """Nobody in particular can sign out too, which is no news."""
    if user is not None:
        _keep("session.signed_out", user)


@receiver(user_login_failed, dispatch_uid="teams.audit_refused")
def refused(sender: object, credentials: dict[str, Any], **kwargs: Any) -> None:
    """A name that nobody has is not written down: people type passwords into the wrong field."""
    typed = str(credentials.get("username") or "")
    person = User.objects.filter(username__iexact=typed).first() if typed else None
    record(
        team_id=None,
        action="session.refused",
        subject=_subject(person) if person else "an unknown name",
        at=timezone.now(),
        data={"by": "password"},
    )


@receiver(factors.authentication_failed, dispatch_uid="teams.audit_factor_refused")
def factor_refused(sender: object, user: AbstractBaseUser, **kwargs: Any) -> None:
    """The password was right, the code was not."""
    record(
        team_id=None,
        action="session.refused",
        subject=_subject(user),
        at=timezone.now(),
        data={"by": "second_factor"},
    )


@receiver(post_save, sender=Authenticator, dispatch_uid="teams.audit_factor_added")
def factor_added(sender: object, instance: Authenticator, created: bool, **kwargs: Any) -> None:
    """An app, a key, or recovery codes: told by the row itself, so that no way of making one is forgotten."""
    if created:
        _about(instance, "factor.enrolled")


@receiver(factors.authenticator_added, dispatch_uid="teams.factor_shown")
def factor_was_shown(
    sender: object, request: HttpRequest, user: AbstractBaseUser, authenticator: Authenticator, **kwargs: Any
) -> None:
    """Whoever enrols a factor has it in hand: it is not asked for again to show the recovery codes that follow."""
    if authenticator.type != Authenticator.Type.RECOVERY_CODES:
        shown = {"id": authenticator.pk, "type": str(authenticator.type)}
        record_authentication(request, user, method="mfa", reauthenticated=True, **shown)


@receiver(post_delete, sender=Authenticator, dispatch_uid="teams.audit_factor_removed")
def factor_removed(sender: object, instance: Authenticator, **kwargs: Any) -> None:
    """By the person, or by whoever runs Tidemark."""
    _about(instance, "factor.removed")


def _about(factor: Authenticator, action: str) -> None:
    data = {"kind": str(factor.type)}
    record(team_id=None, action=action, subject=_subject(factor.user), at=timezone.now(), data=data)


@receiver(password_changed, dispatch_uid="teams.audit_password")
def password_was_changed(sender: object, user: AbstractBaseUser, **kwargs: Any) -> None:
    """Never the password."""
    _keep("person.new_password", user)
