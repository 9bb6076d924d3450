"""Pages for what went wrong: what is so, and the one next step."""

from __future__ import annotations

from django.conf import settings
from django.core.exceptions import DisallowedHost, RequestDataTooBig
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template import loader
from django.utils.translation import gettext as _

from advisor.ui import quantities


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return render(request, "web/problem.html", {"title": _("There is nothing here"), "kind": "404"}, status=404)


def refused(request: HttpRequest, exception: Exception) -> HttpResponse:
    """What cannot be read; too much at once is told with its limit, since a file of the same has another."""
    if isinstance(exception, DisallowedHost):
        # The frame of a page asks for the host again, and what was refused once must not end as a failure of ours.
        return HttpResponse(_("This host name is not served here."), status=400, content_type="text/plain")
    if isinstance(exception, RequestDataTooBig):
        limit = quantities.size(settings.DATA_UPLOAD_MAX_MEMORY_SIZE or 0)
        context = {"title": _("That is too much at once"), "kind": "413", "limit": limit}
        return render(request, "web/problem.html", context, status=413)
    context = {"title": _("This could not be understood"), "kind": "400"}
    return render(request, "web/problem.html", context, status=400)


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    words = str(exception) if exception.args else ""
    context = {"title": _("You may not do this"), "kind": "403", "words": words}
    return render(request, "web/problem.html", context, status=403)


def csrf_failed(request: HttpRequest, reason: str = "") -> HttpResponse:
    """A form that is older than the session, mostly: told as that, since nobody can act on a token's name."""
    context = {"title": _("This form is no longer valid"), "kind": "csrf"}
    return render(request, "web/problem.html", context, status=403)


def server_error(request: HttpRequest) -> HttpResponse:
    """No database and no context processor: whatever failed may fail again."""
    return HttpResponse(loader.get_template("web/failed.html").render({}), status=500)
