"""Following a login link."""

from __future__ import annotations

from allauth.account.internal.flows.login import perform_login
from allauth.account.models import Login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from advisor.teams import services


@never_cache
@require_GET
def follow_login_link(request: HttpRequest, secret: str) -> HttpResponse:
    """Signs the link's person in and leads to the first page; a second factor that is enrolled is still asked for.

    A link that is used, run out or was never made gets one and the same answer: which of them it was is nobody's
    business.
    """
    person = services.redeem_login_link(secret=secret, now=timezone.now())
    if person is None:
        return render(request, "teams/login_link_spent.html", status=410)
    # Signing in changes the session's key, so a session that somebody planted before is worth nothing.
    return perform_login(request, Login(user=person))
