"""Who is calling: a bearer token, and nothing else. Cookies do not count here, so no page elsewhere can call in a
person's name.
"""

from __future__ import annotations

from typing import Any, cast

from django.contrib.auth.models import User
from django.http import HttpRequest
from django.utils import timezone
from ninja.security import HttpBearer

from advisor.teams import services


class BearerToken(HttpBearer):
    """Sets ``request.user`` to the person the token speaks for."""

    def authenticate(self, request: HttpRequest, token: str) -> User | None:
        person = services.user_of_token(text=token, now=timezone.now())
        if person is not None:
            request.user = person
        return person


def caller(request: HttpRequest) -> Any:
    """The person of an authenticated request."""
    return cast(User, request.user)
