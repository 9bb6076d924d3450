"""One view, one template for a page and its part: whole for a browser, the part alone for htmx."""

from __future__ import annotations

import hashlib
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseNotModified
from django.shortcuts import render


def wants_part(request: HttpRequest) -> bool:
    """True where htmx asks for a part; a boosted navigation and a restored history entry want the whole page."""
    details = getattr(request, "htmx", None)
    return details is not None and bool(details) and not (details.boosted or details.history_restore_request)


def tag_of(*parts: object) -> str:
    """An entity tag over what decides a response."""
    digest = hashlib.sha256("\x1f".join(str(part) for part in parts).encode("utf-8")).hexdigest()
    return f'"{digest[:24]}"'


def unchanged(request: HttpRequest, tag: str) -> HttpResponse | None:
    """304 where the part that the page shows already is the present one, so that nothing is read, drawn or sent."""
    if wants_part(request) and request.headers.get("If-None-Match") == tag:
        response = HttpResponseNotModified()
        response["ETag"] = tag
        return response
    return None


def page_or_part(
    request: HttpRequest, page: str, part: str, context: dict[str, Any], *, tag: str = "", status: int = 200
) -> HttpResponse:
    """The page includes the part's template, so both always agree. Without ``tag`` the part's own text decides."""
    if not wants_part(request):
        response = render(request, page, {**context, "etag": tag}, status=status)
    else:
        response = render(request, part, {**context, "etag": tag}, status=status)
        tag = tag or tag_of(response.content)
        not_modified = unchanged(request, tag)
        if not_modified is not None:
            return not_modified
        response["ETag"] = tag
    response["Cache-Control"] = "private, no-store"
    response["Vary"] = "HX-Request, Cookie"
    return response
