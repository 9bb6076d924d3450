"""Adding a server, changing what is known of it, and removing it. The connection is tried before anything is stored."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from advisor.mysql.grants import OptionalGrant, observe_grants, optional_grants
from advisor.mysql.version import identify
from advisor.recommendations import fleet
from advisor.teams import access
from advisor.teams.models import Team
from advisor.teams.roles import Action
from advisor.web.forms import NewServer, ServerSettings, TargetServer
from advisor.web.views.applying_account import applying_account
from collector import drafts, servers, snapshots
from collector.errors import AddressDenied, BadTarget, TargetError
from collector.reports import ConnectionReport
from collector.secret import Secret
from collector.servers import InvalidServer
from collector.target import Target
from collector.vault import VaultError

#: What a password is sealed for between a failed try and "save anyway".
_PURPOSE = "add"
#: What the page shows before any server was tried: the statements differ between these.
_FLAVORS = (
    ("MySQL", "8.0.36 MySQL"),
    ("MariaDB", "10.11.6-MariaDB"),
)


def teams_that_allow(request: HttpRequest, action: Action) -> list[Team]:
    """The teams in which the person may do this. Raises PermissionDenied where there is none, Http404 without any
    team.
    """
    mine = list(access.teams_of(request.user))
    if not mine:
        raise Http404("You are in no team.")
    rights = [(team, access.access_to(request.user, team.pk)) for team in mine]
    allowed = [team for team, may in rights if may is not None and may.may(action)]
    if not allowed:
        first = rights[0][1]
        assert first is not None
        first.require(action)
    return allowed


def _statements(user: str = "tidemark") -> list[tuple[str, list[str]]]:
    try:
        return [(title, observe_grants(identify(text), f"'{user}'@'%'")) for title, text in _FLAVORS]
    except ValueError:
        return [(title, observe_grants(identify(text))) for title, text in _FLAVORS]


def _statements_for(server: Any) -> list[tuple[str, list[str]]]:
    """For the version the server has, as far as a snapshot tells it."""
    snapshot = snapshots.latest(server.pk)
    if snapshot is None:
        return _statements(server.user)
    version = snapshot.identity.version
    try:
        return [(str(version), observe_grants(version, f"'{server.user}'@'%'"))]
    except ValueError:
        return [(str(version), observe_grants(version))]


#: What the pure room says of its optional grants, so that it can be translated here.
_SHOWN = (
    gettext_noop("Shows names, sizes, columns and indexes of all tables, and no row of any of them."),
    gettext_noop(
        "Shows accounts: Tidemark reads whether each has a password, and never a password's hash. "
        "The account could read the hashes, so leave this out where that is not wanted."
    ),
    gettext_noop("Shows which accounts hold parts of what SUPER was."),
)


def _optional_for(server: Any) -> list[OptionalGrant]:
    """What an inspection could read more with, in the words of the version the server has; nothing while that is not
    known.
    """
    snapshot = snapshots.latest(server.pk)
    if snapshot is None:
        return []
    try:
        grants = optional_grants(snapshot.identity.version, f"'{server.user}'@'%'")
    except ValueError:
        grants = optional_grants(snapshot.identity.version)
    return [replace(one, shows=_(one.shows)) for one in grants]


@login_required
@sensitive_post_parameters("password", "kept")
@require_http_methods(["GET", "POST"])
def add_server(request: HttpRequest) -> HttpResponse:
    teams = teams_that_allow(request, Action.ADD_SERVER)
    choices = [(team.pk, team.name) for team in teams]
    form = NewServer(request.POST or None, teams=choices)
    tried = None
    if request.method == "POST" and form.is_valid():
        team = next((team for team in teams if team.pk == form.cleaned_data.get("team")), teams[0])
        values = form.values()
        unrestricted = access.may_name_any_address(request.user)
        try:
            password = _password(request, values, form.cleaned_data["password"])
            tried = _tried_first(request, values, password, unrestricted)
            if tried is None or tried.report is None or tried.report.reachable:
                made = servers.add_server(
                    team=team,
                    password=Secret(password),
                    unrestricted=unrestricted,
                    actor=request.user,  # type: ignore[arg-type]
                    **values,
                )
                fleet.ensure_row(server=made)
                messages.success(request, _("%(name)s is watched from now on.") % {"name": made.name})
                return redirect("server", made.pk)
        except InvalidServer as wrong:
            form.take_errors(wrong.errors)
            tried = None
    if tried:
        form.fields["password"].widget.attrs["placeholder"] = _("as typed before")
    context = {
        "form": form,
        "statements": _statements(),
        "tried": tried,
        "report": tried.report if tried else None,
        "wrong": "",
    }
    return render(request, "web/add_server.html", context, status=422 if form.errors else 200)


@dataclass(frozen=True)
class Tried:
    """What connecting said before the server was to be stored. ``kept`` is the password, sealed for "save anyway"."""

    report: ConnectionReport | None
    kept: str


def _tried_first(request: HttpRequest, values: dict[str, Any], password: str, unrestricted: bool) -> Tried | None:
    """Connects before anything is stored; None where the person saves it in any case. Raises InvalidServer."""
    servers.checked_values({**values, **servers.default_intervals(), "unrestricted": unrestricted})
    if "anyway" in request.POST:
        return None
    report, wrong = _try(values, password, unrestricted)
    if wrong:
        raise InvalidServer({"host": wrong})
    kept = {"password": password, "place": _place(values)}
    try:
        return Tried(report, drafts.seal(kept, person=str(request.user.pk), purpose=_PURPOSE))
    except VaultError as error:
        raise InvalidServer({"password": str(error)}) from None


def _password(request: HttpRequest, values: dict[str, Any], typed: str) -> str:
    """What was typed, else what was typed before the connection failed: no page shows a password again.

    Raises InvalidServer where it was typed for another place: it is sent where its owner meant it to go.
    """
    kept = request.POST.get("kept", "")
    if typed or not kept:
        return typed
    again = InvalidServer({"password": _("Enter the password again: it was typed for another place, or an hour ago.")})
    try:
        draft = drafts.unseal(kept, person=str(request.user.pk), purpose=_PURPOSE)
    except drafts.DraftLost:
        raise again from None
    if draft["password"] and draft["place"] != _place(values):
        raise again
    return str(draft["password"])


def _place(values: dict[str, Any]) -> list[str]:
    return [str(values[name]) for name in ("user", "host", "port", "socket", "tls_mode", "tls_ca")]


@login_required
@sensitive_post_parameters("password")
@require_POST
def check(request: HttpRequest) -> HttpResponse:
    """Tries what the form says, and stores nothing."""
    teams_that_allow(request, Action.ADD_SERVER)
    form = TargetServer(request.POST)
    report, wrong = None, ""
    if form.is_valid():
        report, wrong = _try(form.values(), form.cleaned_data["password"], access.may_name_any_address(request.user))
    else:
        wrong = " ".join(str(error) for errors in form.errors.values() for error in errors)
    return _result(request, report, wrong)


def _result(request: HttpRequest, report: ConnectionReport | None, wrong: str) -> HttpResponse:
    """The part for htmx; without scripts the same on a page of its own."""
    context: dict[str, Any] = {"report": report, "wrong": wrong}
    template = "web/_connection.html" if getattr(request, "htmx", False) else "web/connection.html"
    return render(request, template, context)


def _try(values: dict[str, Any], password: str, unrestricted: bool) -> tuple[ConnectionReport | None, str]:
    try:
        target = Target(
            user=values["user"],
            password=Secret(password),
            host=values["host"],
            port=values["port"],
            socket=values["socket"],
            tls_mode=values["tls_mode"],
            tls_ca=values["tls_ca"],
            unrestricted=unrestricted,
        )
    except (BadTarget, AddressDenied) as error:
        return None, str(error)
    try:
        return servers.check_connection(target), ""
    except TargetError as error:
        return None, str(error)


@login_required
@sensitive_post_parameters("password")
@require_http_methods(["GET", "POST"])
def settings(request: HttpRequest, server_id: str) -> HttpResponse:
    target, may = access.get_server(request.user, server_id)
    may.require(Action.CHANGE_SERVER)
    form = ServerSettings(request.POST or None, initial=ServerSettings.initial_of(target))
    if request.method == "POST" and form.is_valid():
        try:
            _change(target, form, request)
        except InvalidServer as wrong:
            form.take_errors(wrong.errors)
        else:
            messages.success(request, _("Saved."))
            return redirect("server", server_id)
    context = {
        "form": form,
        "server": target,
        "may_delete": may.may(Action.DELETE_SERVER),
        "statements": _statements_for(target),
        "optional": _optional_for(target),
        "applying": applying_account(target) if may.may(Action.SET_POLICIES) else None,
    }
    return render(request, "web/server_settings.html", context, status=422 if form.errors else 200)


def _change(target: Any, form: ServerSettings, request: HttpRequest) -> None:
    values = form.values()
    if not values["tls_mode"] and target.tls_mode == "opportunistic":
        values["tls_mode"] = "opportunistic"
    elif not values["tls_mode"]:
        values["tls_mode"] = "verify-identity"
    # Facts that were read from the machine are not this form's to remove.
    read = {
        name: fact
        for name, fact in (target.host_facts or {}).items()
        if isinstance(fact, dict) and fact.get("origin") != "stated"
    }
    values["host_facts"] = {**read, **values["host_facts"]}
    elsewhere = any(values[name] != getattr(target, name) for name in ("host", "port", "socket"))
    if elsewhere:
        # Who may name any address decides it for this address only; a new one is held to the deny list again.
        values["unrestricted"] = access.may_name_any_address(request.user)
    password = form.cleaned_data["password"]
    servers.update_server(
        server=target,
        actor=request.user,  # type: ignore[arg-type]
        password=Secret(password) if password else None,
        **values,
    )
    servers.set_enabled(server=target, enabled=form.cleaned_data["enabled"], actor=request.user)  # type: ignore[arg-type]


@login_required
@require_POST
def delete(request: HttpRequest, server_id: str) -> HttpResponse:
    target, may = access.get_server(request.user, server_id)
    may.require(Action.DELETE_SERVER)
    if request.POST.get("name", "").strip().casefold() != target.folded:
        messages.error(request, _("Nothing was deleted: type the server's name to confirm."))
        return redirect("server-settings", server_id)
    servers.delete_server(server=target, actor=request.user)  # type: ignore[arg-type]
    messages.success(request, _("%(name)s is no longer watched; its history is deleted.") % {"name": target.name})
    return redirect("fleet")
