"""Writing a change request: from another page's values or by hand, again and again until it is right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from advisor.changes import page_wanted, requests, services, states
from advisor.changes.forms import Proposal
from advisor.changes.models import ChangeRequest
from advisor.changes.page_wanted import Row
from advisor.changes.requests import BadRequest, Change
from advisor.changes.states import CameLate, WrongState
from advisor.changes.views.loading import load
from advisor.recommendations.models import Recommendation
from advisor.teams import access
from advisor.teams.models import Team
from advisor.teams.roles import ALLOWED, Action
from collector import snapshots
from collector.models import Server

_EMPTY = Row()


@dataclass(frozen=True)
class _Draft:
    """The form as it stands: what is written again where it could not be kept."""

    form: Proposal
    rows: Sequence[Row]


@login_required
@require_http_methods(["GET", "POST"])
def new(request: HttpRequest) -> HttpResponse:
    servers = _servers(request)
    if request.method == "GET":
        prefilled = page_wanted.prefilled(request.user, request.GET)
        rows = page_wanted.checked(prefilled.rows, servers) if prefilled.rows else []
        initial = {name: getattr(prefilled, name) for name in ("title", "reason", "expected_effect", "price")}
        form = Proposal(initial=initial, servers=_of_rows(rows, servers))
        # What another page brings along is not wrong yet, only unfinished.
        rows = [replace(row, errors={}) if row.is_empty or not row.value else row for row in rows]
        return _page(request, servers, _Draft(form, rows or [_EMPTY]))
    draft = _posted(request, servers)
    if "write" not in request.POST or not _is_whole(draft):
        return _page(request, servers, draft, status=200 if "add" in request.POST else 422)
    team = _team(draft.rows, servers)
    try:
        if team is None:
            raise BadRequest({"changes": _("The servers of one change request belong to one team.")})
        made = services.create(
            team=team,
            actor=request.user,  # type: ignore[arg-type]
            changes=_changes(request, draft, servers),
            now=timezone.now(),
            **_texts(draft.form),
        )
    except BadRequest as wrong:
        return _page(request, servers, _refused(draft, wrong), status=422)
    return _written(request, made)


@login_required
@require_http_methods(["GET", "POST"])
def edit(request: HttpRequest, change_id: str) -> HttpResponse:
    found, may = load(request, change_id)
    may.require(Action.PROPOSE_CHANGE)
    if not states.can(found, states.Step.EDIT):
        messages.error(request, str(WrongState(found.state, states.Step.EDIT)))
        return redirect("change", found.pk)
    servers = {pk: one for pk, one in _servers(request).items() if one.team_id == found.team_id}
    if request.method == "GET":
        rows = page_wanted.checked(page_wanted.of_request(found), servers)
        initial = {
            **{name: getattr(found, name) for name in ("title", "reason", "expected_effect", "price", "test_plan")},
            "first_server": found.first_server_id or "",
            "wait_minutes": found.wait_seconds // 60,
            "emergency": found.emergency,
        }
        form = Proposal(initial=initial, servers=_of_rows(rows, servers))
        return _page(request, servers, _Draft(form, rows), found=found)
    draft = _posted(request, servers)
    if "write" not in request.POST or not _is_whole(draft):
        return _page(request, servers, draft, found=found, status=200 if "add" in request.POST else 422)
    version = request.POST.get("version", "")
    try:
        made = services.edit(
            request=found,
            actor=request.user,  # type: ignore[arg-type]
            changes=_changes(request, draft, servers),
            now=timezone.now(),
            version=int(version) if version.isascii() and version.isdigit() else None,
            **_texts(draft.form),
        )
    except BadRequest as wrong:
        return _page(request, servers, _refused(draft, wrong), found=found, status=422)
    except (CameLate, WrongState) as late:
        messages.error(request, str(late))
        return _page(request, servers, draft, found=found, status=409)
    return _written(request, made)


@login_required
@require_GET
def hint(request: HttpRequest) -> HttpResponse:
    """What the catalogue and the newest snapshot say of one line, while it is written."""
    server, _may = access.get_server(request.user, request.GET.get("row-server", ""))
    variable = request.GET.get("row-variable", "").strip().lower()[:64]
    value = request.GET.get("row-value", "").strip()[:500]
    found = page_wanted.hint_of(snapshots.latest(server.pk), variable, value) if variable else page_wanted.Hint()
    return render(request, "changes/_hint.html", {"hint": found})


def _servers(request: HttpRequest) -> dict[str, Server]:
    """The servers for which the person may propose something. Raises PermissionDenied where there are none."""
    teams = [
        team.pk
        for team in access.teams_of(request.user)
        if (one := access.access_to(request.user, team.pk)) is not None and one.may(Action.PROPOSE_CHANGE)
    ]
    if not teams:
        enough = ", ".join(role.value for role, allowed in ALLOWED.items() if Action.PROPOSE_CHANGE in allowed)
        raise PermissionDenied(f"Your roles do not allow this. It takes one of: {enough}.")
    return {one.pk: one for one in access.servers_for(request.user).filter(team_id__in=teams)}


def _of_rows(rows: Sequence[Row], servers: dict[str, Server]) -> list[Server]:
    return [servers[pk] for pk in dict.fromkeys(row.server for row in rows) if pk in servers]


def _posted(request: HttpRequest, servers: dict[str, Server]) -> _Draft:
    rows = page_wanted.checked(page_wanted.posted(request.POST), servers)
    form = Proposal(request.POST, servers=_of_rows(rows, servers))
    if "add" in request.POST:
        # Nobody has said yet that this is all: what is missing still is not wrong.
        form = Proposal(initial=request.POST.dict(), servers=_of_rows(rows, servers))
        last = rows[-1].server if rows else ""
        rows = [*rows, Row(server=last)]
    return _Draft(form, rows or [_EMPTY])


def _is_whole(draft: _Draft) -> bool:
    valid = draft.form.is_valid()
    return valid and not any(row.errors or row.is_empty for row in draft.rows)


def _team(rows: Sequence[Row], servers: dict[str, Server]) -> Team | None:
    teams = {servers[row.server].team_id: servers[row.server].team for row in rows}
    return next(iter(teams.values())) if len(teams) == 1 else None


def _changes(request: HttpRequest, draft: _Draft, servers: dict[str, Server]) -> list[Change]:
    ids = [row.recommendation for row in draft.rows if row.recommendation]
    rows = access.visible(request.user, Recommendation.objects.all(), team="server__team").filter(pk__in=ids)
    known = {(one.pk, one.server_id): one for one in rows}
    return [
        Change(servers[row.server], row.variable, row.value, known.get((row.recommendation, row.server)))
        for row in draft.rows
    ]


def _texts(form: Proposal) -> dict[str, Any]:
    texts = {name: form.cleaned_data[name] for name in ("title", "reason", "expected_effect", "price", "test_plan")}
    return {
        **texts,
        "first_server": form.first(),
        "wait_seconds": form.wait_seconds(),
        "emergency": form.cleaned_data["emergency"],
    }


def _refused(draft: _Draft, wrong: BadRequest) -> _Draft:
    """The form with what the service says beside the fields it says it of."""
    rows = list(draft.rows)
    for field, sentence in wrong.errors.items():
        kind, dot, number = field.partition(".")
        if kind == "changes" and dot and number.isdigit() and int(number) < len(rows):
            rows[int(number)] = replace(rows[int(number)], errors={"value": sentence})
        else:
            draft.form.add_error(field if field in draft.form.fields else None, sentence)
    return _Draft(draft.form, rows)


def _written(request: HttpRequest, made: ChangeRequest) -> HttpResponse:
    """To its page; on request it is submitted at once, and where that cannot be, the page says why."""
    if request.POST.get("write") != "submit":
        messages.success(request, _("Written as a draft: nobody else is asked yet."))
        return redirect("change", made.pk)
    from advisor.changes.views.deciding import submitted

    return submitted(request, made)


def _page(
    request: HttpRequest,
    servers: dict[str, Server],
    draft: _Draft,
    *,
    found: ChangeRequest | None = None,
    status: int = 200,
) -> HttpResponse:
    chosen = _of_rows(draft.rows, servers)
    context = {
        "change": found,
        "form": draft.form,
        "rows": draft.rows,
        "servers": list(servers.values()),
        "also": [one for one in servers.values() if one not in chosen] if chosen else [],
        "names": page_wanted.names_for(chosen or servers.values()),
        "most": requests.MOST_CHANGES,
    }
    return render(request, "changes/write.html", context, status=status)
