"""From where a request came, where proxies stand in front of us."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse


def forwarded_address(header: str, proxies: int) -> str:
    """The address that the outermost of our own ``proxies`` saw, from ``X-Forwarded-For``; "" where it names none.

    Each proxy appends whom it was called by, so ours stand at the end; anything before them was written by the caller
    and is worth nothing.
    """
    named = [part.strip() for part in header.split(",") if part.strip()]
    if proxies < 1 or len(named) < proxies:
        return ""
    try:
        return str(ipaddress.ip_address(named[-proxies]))
    except ValueError:
        return ""


def middleware(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Puts the caller's address where everything looks for it. Stands before whatever counts or records addresses."""

    def handle(request: HttpRequest) -> HttpResponse:
        seen = forwarded_address(request.headers.get("X-Forwarded-For", ""), settings.TRUSTED_PROXIES)
        if seen:
            request.META["REMOTE_ADDR"] = seen
        return get_response(request)

    return handle
