"""Addresses of login links. Signing in is one GET, since a link is clicked where no form can be."""

from __future__ import annotations

from django.conf import settings
from django.urls import reverse


def login_address(secret: str, *, base: str = "") -> str:
    """The full address of a login link; ``base`` is scheme, host and port, by default the ones people use."""
    return (base or settings.BASE_URL).rstrip("/") + reverse("login-link", args=[secret])
