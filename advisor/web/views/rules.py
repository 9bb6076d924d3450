"""Every rule's documentation, rendered from the rule itself, and what the reader's teams make of it."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from advisor.changes import track_record
from advisor.engine.rule import Rule
from advisor.recommendations import rule_settings
from advisor.recommendations.models import RuleSetting
from advisor.rules import rule_by_id
from advisor.teams import access
from advisor.teams.roles import Action
from advisor.web import rule_pages
from advisor.web.forms import RuleChange


def _load(rule_id: str) -> Rule:
    try:
        return rule_by_id(rule_id)
    except KeyError:
        raise Http404("There is no such rule.") from None


def _page(request: HttpRequest, found: Rule, *, form: RuleChange | None = None, status: int = 200) -> HttpResponse:
    teams = access.teams_of(request.user)
    settable = rule_pages.settable_teams(request.user)
    context = {
        "shown": rule_pages.document(found),
        "rule": found,
        "open": rule_pages.where_it_is_open(found.id, teams),
        "history": rule_pages.history(found.id, teams),
        "record": track_record.of_rule(found.id, [team.pk for team in teams]),
        "settings": rule_pages.settings_of(found.id, request.user),
        "teams": settable,
        "form": form or RuleChange(found),
    }
    return render(request, "web/rule.html", context, status=status)


@login_required
@require_GET
def rules(request: HttpRequest) -> HttpResponse:
    changed = rule_pages.changed_rules(access.teams_of(request.user))
    context = {"topics": rule_pages.by_topic(changed), "refused": rule_pages.refused()}
    return render(request, "web/rules.html", context)


@login_required
@require_GET
def rule(request: HttpRequest, rule_id: str) -> HttpResponse:
    return _page(request, _load(rule_id))


@login_required
@require_POST
def set_rule(request: HttpRequest, rule_id: str) -> HttpResponse:
    found = _load(rule_id)
    team, _may = access.team_for(request.user, Action.SET_RULES, request.POST.get("team", ""))
    form = RuleChange(found, request.POST)
    if not form.is_valid():
        return _page(request, found, form=form, status=422)
    try:
        rule_settings.set_rule(
            team=team,
            rule_id=found.id,
            tag=form.cleaned_data["tag"],
            off=form.cleaned_data["off"],
            thresholds=form.thresholds(),
            reason=form.cleaned_data["reason"],
            actor=request.user,  # type: ignore[arg-type]
            now=timezone.now(),
        )
    except rule_settings.BadSetting as bad:
        form.add_error(None, str(bad))
        return _page(request, found, form=form, status=422)
    messages.success(request, _("Kept. It counts from the next judgement of each server, within about a minute."))
    return redirect("rule", found.id)


@login_required
@require_POST
def clear_rule(request: HttpRequest, rule_id: str, setting_id: str) -> HttpResponse:
    setting, may = access.get_visible(request.user, RuleSetting.objects.filter(rule=rule_id), setting_id)
    may.require(Action.SET_RULES)
    rule_settings.clear_rule(setting=setting, actor=request.user, now=timezone.now())  # type: ignore[arg-type]
    messages.success(request, _("The rule counts again as it is declared."))
    return redirect("rule", rule_id)
