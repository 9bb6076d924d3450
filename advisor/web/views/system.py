"""Whether Tidemark itself is well: for people on a page, for load balancers as plain text."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.db import Error, connection
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from advisor.web import system_page


@login_required
@require_safe
def system(request: HttpRequest) -> HttpResponse:
    return render(request, "web/system.html", system_page.read(request.user))


@never_cache
@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """The process answers. Nothing else is asked, so that a slow database never gets a healthy process killed."""
    return HttpResponse("ok\n", content_type="text/plain")


@never_cache
@require_safe
def readyz(request: HttpRequest) -> HttpResponse:
    """Requests can be served: the product database answers."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
            cursor.fetchone()
    except Error:
        return HttpResponse("the product database does not answer\n", content_type="text/plain", status=503)
    return HttpResponse("ready\n", content_type="text/plain")
