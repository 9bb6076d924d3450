"""What the rest of Tidemark asks about somebody's sign-in: is there a second factor, and was it shown lately?"""

from __future__ import annotations

import time
from urllib.parse import urlencode

from allauth.account.authentication import get_authentication_records
from allauth.mfa.models import Authenticator
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.http import HttpRequest
from django.urls import reverse

#: How long a second factor that was shown counts for what needs one.
RECENT_SECONDS = 15 * 60
_FACTORS = (Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN)


def has_second_factor(user: AbstractBaseUser | AnonymousUser) -> bool:
    """Whether an authenticator app or a security key is enrolled. Recovery codes alone are none."""
    return user.is_authenticated and Authenticator.objects.filter(user_id=user.pk, type__in=_FACTORS).exists()


def recently_authenticated(request: HttpRequest, seconds: int = RECENT_SECONDS) -> bool:
    """Whether whoever sits there showed their second factor within so many seconds, at sign-in or since.

    True for a person without a second factor: there is nothing to ask for. A password alone does not count where a
    factor is enrolled. False for anybody who is not signed in.
    """
    user = request.user
    if not user.is_authenticated:
        return False
    if not has_second_factor(user):
        return True
    now = time.time()
    return any(
        record.get("method") == "mfa" and 0 <= now - float(record.get("at", 0)) < seconds
        for record in get_authentication_records(request, user)
    )


def reauthenticate_address(request: HttpRequest, next: str) -> str:
    """Where to send somebody who has to show their second factor again; ``next`` is where they come back to.

    A form that was interrupted is not sent again by itself: the person presses its button once more.
    """
    kinds = set(Authenticator.objects.filter(user_id=request.user.pk).values_list("type", flat=True))
    page = "mfa_reauthenticate" if Authenticator.Type.TOTP in kinds else "mfa_reauthenticate_webauthn"
    return f"{reverse(page)}?{urlencode({'next': next})}"
