"""A source's replicas, asked for once, offered as lines of an import: nothing is added from here."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from advisor.teams import access
from advisor.teams.roles import Action
from advisor.web.importing import ImportForm
from collector import replicas
from collector.models import Server
from collector.replicas import Replica
from collector.target import DEFAULT_PORT


@dataclass(frozen=True)
class Offered:
    """A replica that was found, and the server it is watched as already, if any."""

    replica: Replica
    known: Server | None


@login_required
@require_http_methods(["GET", "POST"])
def server_replicas(request: HttpRequest, server_id: str) -> HttpResponse:
    """Says what would be asked; posted, asks the source and offers what it told."""
    target, may = access.get_server(request.user, server_id)
    may.require(Action.INSPECT_SERVER)
    may.require(Action.ADD_SERVER)
    context: dict[str, Any] = {"server": target, "answer": None}
    if request.method == "POST":
        answer = replicas.ask(server=target, actor=request.user)  # type: ignore[arg-type]
        offered = [Offered(one, _known(target, one)) for one in answer.replicas]
        context |= {"answer": answer, "offered": offered, "form": _form(target, offered)}
    response = render(request, "web/replicas.html", context)
    response["Cache-Control"] = "private, no-store"
    return response


def _known(source: Server, replica: Replica) -> Server | None:
    return Server.objects.filter(team=source.team_id, host__iexact=replica.host, port=replica.port, socket="").first()


def _form(source: Server, offered: list[Offered]) -> ImportForm:
    """The import's form, filled in as the source is reached. Its password is not taken along: whoever sends it to
    another machine has to know it.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["name", "host", "port"])
    for one in offered:
        host, port = one.replica.host, one.replica.port
        if one.known is None:
            writer.writerow([host if port == DEFAULT_PORT else f"{host}:{port}", host, port])
    initial = {
        "text": out.getvalue(),
        "user": source.user,
        "tags": ", ".join(str(tag) for tag in source.tags),
        "tls_mode": "" if source.tls_mode == "opportunistic" else source.tls_mode,
        "tls_ca": source.tls_ca,
        "team": source.team_id,
    }
    return ImportForm(initial=initial, teams=[source.team])
