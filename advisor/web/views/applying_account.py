"""The account that approved changes are made with: tried before it is stored, shown to nobody, removed in one click."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST

from advisor.mysql.grants import apply_grants
from advisor.teams import access
from advisor.teams.roles import Action
from collector import servers, snapshots
from collector.connection import connect
from collector.errors import BadTarget, TargetError
from collector.models import Credential
from collector.secret import Secret
from collector.servers import InvalidServer
from collector.vault import VaultError

#: What the account is called unless somebody calls it otherwise.
USUAL_NAME = "tidemark_apply"


def applying_account(server: Any) -> dict[str, Any]:
    """What the settings page shows of it: who is stored since when, and the statements that make such an account."""
    stored = Credential.objects.filter(server=server, purpose="apply").first()
    user = stored.user if stored else USUAL_NAME
    snapshot = snapshots.latest(server.pk)
    statements = []
    if snapshot is not None:
        version = snapshot.identity.version
        try:
            lines = apply_grants(version, f"'{user}'@'%'")
        except ValueError:
            lines = apply_grants(version)
        statements.append((str(version), lines))
    return {"stored": stored, "user": user, "statements": statements}


@login_required
@sensitive_post_parameters("password")
@require_POST
def set_applying_account(request: HttpRequest, server_id: str) -> HttpResponse:
    """Stores the account once the server let it in, or removes it."""
    server, may = access.get_server(request.user, server_id)
    may.require(Action.SET_POLICIES)
    actor: Any = request.user
    if "remove" in request.POST:
        if servers.remove_apply_account(server=server, actor=actor):
            messages.success(request, _("The account is forgotten. Changes are offered as statements to copy."))
        return redirect("server-settings", server_id)
    user, password = request.POST.get("user", "").strip()[:80], Secret(request.POST.get("password", ""))
    try:
        target = replace(servers.target_of(server), user=user, password=password)
        connect(target, deadline_seconds=10).close()
        servers.set_credential(server=server, purpose="apply", user=user, password=password, actor=actor)
    except (TargetError, BadTarget, VaultError) as error:
        messages.error(request, _("Nothing was stored: {why}").format(why=error))
    except InvalidServer as wrong:
        messages.error(request, _("Nothing was stored: {why}").format(why=" ".join(map(str, wrong.errors.values()))))
    else:
        messages.success(request, _("The server let this account in. Approved changes are made with it."))
    return redirect("server-settings", server_id)
