"""Every rule's documentation, rendered from the rule itself: there is no second text that could be out of date."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from advisor.rules import rule_by_id
from advisor.teams import access
from advisor.web import rule_pages


@login_required
@require_GET
def rules(request: HttpRequest) -> HttpResponse:
    return render(request, "web/rules.html", {"topics": rule_pages.by_topic()})


@login_required
@require_GET
def rule(request: HttpRequest, rule_id: str) -> HttpResponse:
    try:
        found = rule_by_id(rule_id)
    except KeyError:
        raise Http404("There is no such rule.") from None
    where = rule_pages.where_it_is_open(found.id, access.teams_of(request.user))
    return render(request, "web/rule.html", {"shown": rule_pages.document(found), "rule": found, "open": where})
