"""Adding many servers at once: a dry run that writes nothing, and one confirmation that writes all good lines."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from advisor.teams.models import Team
from advisor.teams.roles import Action
from advisor.web.importing import (
    EXAMPLE,
    EXAMPLE_YAML,
    SHOWN,
    Draft,
    ImportForm,
    corrections,
    may_be_shown_again,
)
from advisor.web.views.adding import teams_that_allow
from collector import importing
from collector.drafts import DraftLost
from collector.importing import Plan
from collector.importing_entries import BadList
from collector.servers import InvalidServer
from collector.trying import tested
from collector.vault import VaultError


@login_required
@sensitive_post_parameters()
@require_http_methods(["GET", "POST"])
def import_servers(request: HttpRequest) -> HttpResponse:
    """The form; posted, the dry run. Nothing is written here."""
    teams = teams_that_allow(request, Action.ADD_SERVER)
    form = ImportForm(request.POST or None, request.FILES or None, teams=teams)
    if request.method != "POST" or not form.is_valid():
        return _page(request, form, status=422 if form.errors else 200)
    text = ""
    try:
        text = form.list_text()
        draft = form.draft(text)
        plan = draft.plan(form.chosen_team, request.user)
        if form.cleaned_data["test"]:
            plan = tested(plan)
        return _plan(request, teams, form, draft, plan)
    except BadList as bad:
        form.add_error("file" if form.cleaned_data["file"] else "text", str(bad))
        return _page(request, form, box=_box(form, text), status=422)
    except VaultError as error:
        form.add_error(None, str(error))
        return _page(request, form, box=_box(form, text), status=422)


@login_required
@sensitive_post_parameters()
@require_POST
def confirm(request: HttpRequest) -> HttpResponse:
    """Writes the lines that the dry run promised, if they are the same still."""
    teams = teams_that_allow(request, Action.ADD_SERVER)
    form = ImportForm(teams=teams)
    try:
        draft = Draft.unsealed(request.POST.get("draft", ""), request.user.pk)
    except DraftLost:
        messages.error(request, _("The check is older than an hour, or not yours: check the list once more."))
        return _page(request, form, status=422)
    team = next((one for one in teams if one.pk == draft.team), None)
    if team is None:
        raise Http404("You are in no such team.")
    try:
        plan = draft.plan(team, request.user)
        if not draft.is_as_promised(plan):
            messages.error(request, _("Something changed since the check: nothing was written. This is how it is now."))
            return _plan(request, teams, form, draft, plan, status=409)
        made = importing.write(team=team, plan=plan, actor=request.user)  # type: ignore[arg-type]
    except (BadList, importing.Changed, InvalidServer) as wrong:
        messages.error(request, str(wrong))
        return _page(request, form, status=409)
    messages.success(
        request,
        ngettext("%(n)s server is watched from now on.", "%(n)s servers are watched from now on.", len(made))
        % {"n": len(made)},
    )
    if not plan.bad:
        return redirect("fleet")
    return _page(request, _again(draft, teams), box=corrections(plan.bad), left=plan.bad)


def _plan(
    request: HttpRequest, teams: list[Team], form: ImportForm, draft: Draft, plan: Plan, *, status: int = 200
) -> HttpResponse:
    """The verdict of every line; the box keeps those that have to be corrected."""
    return _page(
        request,
        _again(draft, teams),
        plan=plan,
        box=corrections(plan.bad),
        left=plan.bad,
        draft=draft.sealed(plan, request.user.pk) if plan.good else "",
        team=next(one for one in teams if one.pk == draft.team),
        tested=any(line.report is not None for line in plan.good),
        status=status,
    )


def _again(draft: Draft, teams: list[Team]) -> ImportForm:
    """The form with what was chosen for all lines, all but the password."""
    initial = {
        "team": draft.team,
        "user": draft.user,
        "tags": ", ".join(draft.tags),
        "tls_mode": draft.tls_mode,
        "tls_ca": draft.tls_ca,
    }
    return ImportForm(initial=initial, teams=teams)


def _box(form: ImportForm, text: str) -> str:
    """What stands in the box after a list that cannot be read: the same again, unless it may hold passwords."""
    pasted = str(form.cleaned_data.get("text", "")) or text
    if may_be_shown_again(pasted):
        return pasted
    form.add_error(
        None, _("The list may hold passwords and is not shown again: correct it where it came from, or go back.")
    )
    return ""


def _page(request: HttpRequest, form: ImportForm, *, box: str = "", status: int = 200, **more: Any) -> HttpResponse:
    context = {
        "form": form,
        "box": box,
        "example": EXAMPLE,
        "example_yaml": EXAMPLE_YAML,
        "shown": SHOWN,
        "has_plan": "plan" in more,
        **more,
    }
    response = render(request, "web/import.html", context, status=status)
    response["Cache-Control"] = "private, no-store"
    return response
