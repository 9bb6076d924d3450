"""The reader's language and time zone for each request, from the session, so that no request asks the database for
them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.auth.signals import user_logged_in
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse
from django.utils import timezone, translation

from advisor.teams.models import Preferences

#: What the person chose, kept in the session: {"theme", "language", "time_zone"}.
SESSION_KEY = "reader"
#: What the browser said its zone is: used until the person chooses one.
ZONE_COOKIE = "tidemark_zone"


def zone_named(name: str) -> ZoneInfo | None:
    """The time zone of that name; None for one that there is not. A cookie may hold anything, so its form is checked
    first.
    """
    if not re.fullmatch(r"[A-Za-z0-9_+-]{1,30}(/[A-Za-z0-9_+-]{1,30}){0,2}", name):
        return None
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


def remember(request: HttpRequest, preferences: Preferences | None) -> None:
    """Puts the person's choices into the session."""
    request.session[SESSION_KEY] = {
        "theme": preferences.theme if preferences else "",
        "language": preferences.language if preferences else "",
        "time_zone": preferences.time_zone if preferences else "",
    }


def remember_some(request: HttpRequest, choices: Mapping[str, str]) -> None:
    """Puts these choices of somebody who is not signed in into the session, beside those of before."""
    request.session[SESSION_KEY] = {**chosen(request), **choices}


@receiver(user_logged_in, dispatch_uid="web.remember_reader")
def remember_at_login(sender: object, request: HttpRequest | None, user: User, **kwargs: object) -> None:
    """What the person chose earlier counts; where that is nothing, what was chosen on the login page stays."""
    if request is not None and hasattr(request, "session"):
        before = chosen(request)
        remember(request, Preferences.objects.filter(user_id=user.pk).first())
        stored = request.session[SESSION_KEY]
        request.session[SESSION_KEY] = {name: value or before[name] for name, value in stored.items()}


def chosen(request: HttpRequest) -> dict[str, str]:
    """The choices of this session; without any, an empty one of each."""
    stored = request.session.get(SESSION_KEY) if hasattr(request, "session") else None
    return {"theme": "", "language": "", "time_zone": "", **(stored or {})}


def reader(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Activates them. Stands behind the session's and the locale's middleware."""

    def middleware(request: HttpRequest) -> HttpResponse:
        choice = chosen(request)
        zone = zone_named(choice["time_zone"]) or zone_named(request.COOKIES.get(ZONE_COOKIE, ""))
        if zone is not None:
            timezone.activate(zone)
        if choice["language"] in dict(settings.LANGUAGES):
            translation.activate(choice["language"])
            request.LANGUAGE_CODE = choice["language"]
        try:
            return get_response(request)
        finally:
            timezone.deactivate()

    return middleware
