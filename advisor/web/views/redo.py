"""The redo log of one server: whether it hurts, when, and which size these writes need."""

from __future__ import annotations

from datetime import UTC, datetime

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_GET

from advisor.teams import access
from advisor.teams.roles import Action
from advisor.ui.htmx import wants_part
from advisor.web import ranges, redo_page, redo_samples
from collector import inspecting


@login_required
@require_GET
def redo(request: HttpRequest, server_id: str) -> HttpResponse:
    """The page answers before any size is simulated; htmx asks for the answer and its table, which come alone.

    Without scripts a link leads to the same page with the table in it (``?whole=1``).
    """
    target, may = access.get_server(request.user, server_id)
    period = ranges.asked(request, target, redo_page.DEFAULT_RANGE)
    part = wants_part(request)
    context = {
        "server": target,
        "inspection": inspecting.standing(target.pk),
        "may_inspect": may.may(Action.INSPECT_SERVER),
        **redo_page.read(target, period, request.GET, simulate=part or "whole" in request.GET, part=part),
    }
    response = render(request, "web/_redo_answer.html" if part else "web/redo.html", context)
    response["Cache-Control"] = "private, no-store"
    response["Vary"] = "HX-Request, Cookie"
    return response


@login_required
@require_GET
def samples(request: HttpRequest, server_id: str) -> HttpResponse:
    """What a figure of the redo page was made of, and the figure made again."""
    target, _may = access.get_server(request.user, server_id)
    period = ranges.asked(request, target, redo_page.DEFAULT_RANGE)
    found = redo_samples.read(target, period, request.GET)
    zone = timezone.get_current_timezone()
    context = {
        "server": target,
        "period": period,
        "found": found,
        "cells": redo_samples.cells(found.times),
        "hours": [(datetime.fromtimestamp(one.hour_at, zone), one) for one in reversed(found.hours)],
        "made": redo_samples.made(found, request.GET.get("how", "")),
        "started": datetime.fromtimestamp(period.started, UTC),
        "ended": datetime.fromtimestamp(period.ended, UTC),
        "query": request.GET.urlencode(),
    }
    response = render(request, "web/redo_samples.html", context)
    response["Cache-Control"] = "private, no-store"
    return response


@login_required
@require_GET
def samples_data(request: HttpRequest, server_id: str) -> HttpResponse:
    """The same as JSON."""
    target, _may = access.get_server(request.user, server_id)
    period = ranges.asked(request, target, redo_page.DEFAULT_RANGE)
    response = JsonResponse(redo_samples.read(target, period, request.GET).document(period))
    response["Cache-Control"] = "private, no-store"
    return response
