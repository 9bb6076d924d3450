"""Having a server tried once more, now: whoever put something right does not wait for the next turn."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from advisor.teams import access
from advisor.teams.roles import Action
from collector import trying_again
from collector.trying_again import Asked


@login_required
@require_POST
def try_now(request: HttpRequest, server_id: str) -> HttpResponse:
    """Makes the server due at once for whoever polls it: no second connection is opened beside that one."""
    target, may = access.get_server(request.user, server_id)
    may.require(Action.INSPECT_SERVER)
    asked = trying_again.ask(server=target)
    if asked is Asked.PAUSED:
        messages.warning(
            request, _("%(name)s is not watched: switch it on in its settings first.") % {"name": target.name}
        )
    elif asked is Asked.NOBODY:
        messages.warning(
            request,
            _("%(name)s is tried as soon as a worker reads its group of servers; none does now. See the system page.")
            % {"name": target.name},
        )
    else:
        messages.success(
            request,
            _("%(name)s is tried within %(seconds)s seconds; this page shows what it answers.")
            % {"name": target.name, "seconds": round(trying_again.ANSWER_SECONDS)},
        )
    return redirect("fleet") if request.POST.get("back") == "fleet" else redirect("server", server_id)
