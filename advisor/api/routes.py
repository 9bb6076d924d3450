"""The REST API: `/api/v1/`, a bearer token, operations known by their operationId.

Only the web process imports this module: the library behind it costs a worker a second and 30 MB for nothing.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Annotated, Any, Literal, cast

from django.conf import settings
from django.core.serializers.json import DjangoJSONEncoder
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from ninja import NinjaAPI, Query, Status

from advisor.api import audit, changes, comparing, documents, events, imports, instants, problems, sizing
from advisor.api.operation import Cursor, Id, Limit, answers, server_of, servers_of, team_filter
from advisor.api.paging import DEFAULT, page
from advisor.api.problems import Problem
from advisor.api.schemas import (
    ConnectionOut,
    InspectionOut,
    RecommendationList,
    RecommendationOut,
    RecommendationState,
    RuleList,
    RuleSettingIn,
    RuleSettingList,
    RuleSettingOut,
    SeriesList,
    ServerIn,
    ServerList,
    ServerOut,
)
from advisor.api.tokens import BearerToken, caller
from advisor.mysql import series
from advisor.recommendations import rule_settings
from advisor.recommendations.models import Recommendation, RuleSetting
from advisor.teams import access
from advisor.teams.roles import Action
from collector import inspecting
from collector import servers as collecting
from collector.errors import BadTarget
from collector.store import store
from collector.vault import VaultError

api = NinjaAPI(
    title="Tidemark",
    version=settings.VERSION,
    description="Watches MySQL and MariaDB servers and advises on their redo log and flushing.",
    auth=BearerToken(),
    openapi_url=None,  # Published below, since making it takes a second each time.
    docs_url=None,
    urls_namespace="api",
)
problems.register(api)
api.add_router("", comparing.router)
api.add_router("", events.router)
api.add_router("", sizing.router)
api.add_router("", imports.router)
api.add_router("", audit.router)
api.add_router("", changes.router)


def openapi_document() -> dict[str, Any]:
    """The API's description as plain JSON values: what is published, and what docs/openapi.json keeps for reviews."""
    document = cast(dict[str, Any], json.loads(json.dumps(api.get_openapi_schema(), cls=DjangoJSONEncoder)))
    answers = [
        answer
        for operations in document["paths"].values()
        for operation in operations.values()
        for status, answer in operation["responses"].items()
        if status == "422"
    ]
    for answer in answers:
        # django-ninja takes Python's names of status codes, and Python calls this one as RFC 9110 does only since 3.13.
        answer["description"] = "Unprocessable Content"
    return document


@cache
def _description() -> bytes:
    """The OpenAPI document as it is sent; it never changes while a process lives."""
    return json.dumps(openapi_document()).encode()


@api.get("/openapi.json", auth=None, include_in_schema=False)
def describe(request: HttpRequest) -> HttpResponse:
    """The description of all operations, open to everybody."""
    return HttpResponse(_description(), content_type="application/json")


_LARGEST_SERIES = 50
_LARGEST_POINTS = 2000
_LONGEST_SECONDS = 400 * 86_400


@api.get(
    "/servers", operation_id="listServers", response=answers(200, ServerList, 404), tags=["servers"], by_alias=True
)
def list_servers(
    request: HttpRequest, team: str | None = None, limit: Limit = DEFAULT, cursor: Cursor = None
) -> dict[str, Any]:
    """The servers of my teams, by name."""
    rows = servers_of(request)
    wanted = team_filter(request, team)
    if wanted:
        rows = rows.filter(team_id=wanted)
    found, following = page(rows, ("folded", "id"), cursor=cursor, limit=limit)
    return {"items": [documents.server(one) for one in found], "next": following}


@api.post(
    "/servers",
    operation_id="addServer",
    response=answers(201, ServerOut, 403, 404, 409),
    tags=["servers"],
    by_alias=True,
)
def add_server(request: HttpRequest, body: ServerIn) -> Status[Any]:
    """Starts watching a server. It is registered also where it cannot be reached now: checkConnection says why."""
    team, _ = access.team_for(caller(request), Action.ADD_SERVER, body.team or "")
    made = documents.add(body, team=team, actor=caller(request))
    return Status(201, documents.server(servers_of(request).get(pk=made.pk)))


@api.get(
    "/servers/{id}", operation_id="getServer", response=answers(200, ServerOut, 404), tags=["servers"], by_alias=True
)
def get_server(request: HttpRequest, id: Id) -> dict[str, Any]:
    """One server and how it is now."""
    return documents.server(server_of(request, id)[0])


@api.delete("/servers/{id}", operation_id="deleteServer", response=answers(204, None, 403, 404), tags=["servers"])
def delete_server(request: HttpRequest, id: Id) -> Status[Any]:
    """Stops watching a server and deletes its history, recommendations and passwords. The server itself is not
    touched.
    """
    found, allowed = server_of(request, id)
    allowed.require(Action.DELETE_SERVER)
    collecting.delete_server(server=found, actor=caller(request))
    return Status(204, None)


@api.post(
    "/servers/{id}/check",
    operation_id="checkConnection",
    response=answers(200, ConnectionOut, 403, 404, 409),
    tags=["servers"],
)
def check_connection(request: HttpRequest, id: Id) -> dict[str, Any]:
    """Connects to the server once, now, and says what came of it. Takes a few seconds at most."""
    found, allowed = server_of(request, id)
    allowed.require(Action.CHANGE_SERVER)
    try:
        target = collecting.target_of(found)
    except (BadTarget, VaultError) as error:
        raise Problem(409, "account-unusable", str(error)) from None
    return documents.connection(collecting.check_connection(target))


@api.post(
    "/servers/{id}/inspection",
    operation_id="requestInspection",
    response=answers(202, InspectionOut, 403, 404),
    tags=["servers"],
)
def request_inspection(request: HttpRequest, id: Id) -> Status[Any]:
    """Has accounts, tables and statements of the server read once, soon: no poll and no snapshot reads them. Takes half
    a minute at most; one that is under way is not asked for twice. What it shows is judged for eight days.
    """
    found, allowed = server_of(request, id)
    allowed.require(Action.INSPECT_SERVER)
    return Status(202, documents.inspection(inspecting.request_inspection(server=found, actor=caller(request))))


@api.get(
    "/servers/{id}/series",
    operation_id="getSeries",
    response=answers(200, SeriesList, 404),
    tags=["servers"],
    by_alias=True,
)
def get_series(
    request: HttpRequest,
    id: Id,
    names: Annotated[list[str], Query(description="names of series; commas may part several")],
    from_: Annotated[str, Query(alias="from", max_length=40)] = "now-1h",
    to: Annotated[str, Query(max_length=40)] = "now",
    points: Annotated[int, Query(ge=2, le=_LARGEST_POINTS)] = 300,
) -> dict[str, Any]:
    """The history of some series in at most ``points`` buckets; counters as change per second, holes as null.

    Names are those of the polls (redo_pressure, redo_lsn, Innodb_os_log_written, ...), every other status variable that
    is a number as the server spells it, and the innodb_metrics counters that are switched on as metrics.<name>. The
    latter two are read with each full snapshot, and no bucket is narrower than the time between these. Names that this
    server never told are listed in ``unknown``, so that a misspelt one is not taken for a quiet one.
    """
    found, _ = server_of(request, id)
    wanted = list(dict.fromkeys(name for text in names for name in text.split(",") if name))
    if not wanted or len(wanted) > _LARGEST_SERIES or any(len(name) > 80 for name in wanted):
        raise Problem(422, "bad-names", f"Name 1 to {_LARGEST_SERIES} series, each at most 80 characters long.")
    now = timezone.now().timestamp()
    start, end = instants.read(from_, now=now, parameter="from"), instants.read(to, now=now, parameter="to")
    if not 0 < end - start <= _LONGEST_SECONDS:
        raise Problem(422, "bad-range", "'from' has to lie before 'to', by 400 days at most.")
    history = store()
    told = documents.series(
        history.buckets(found.pk, wanted, start, end, points), wanted, history.gaps(found.pk, start, end)
    )
    return {**told, "unknown": _never_told(found.pk, [one["name"] for one in told["series"] if not any(one["points"])])}


def _never_told(server_id: str, silent: list[str]) -> list[str]:
    """Those of the names that neither the newest poll nor the newest snapshot of the server has."""
    newest = store().latest(server_id) if silent else None
    rest = [name for name in silent if name not in series.DERIVED and (newest is None or name not in newest.values)]
    known = {one.name for one in store().counter_names(server_id)} if rest else set()
    return [name for name in rest if name not in known]


@api.get(
    "/recommendations",
    operation_id="listRecommendations",
    response=answers(200, RecommendationList, 404),
    tags=["recommendations"],
)
def list_recommendations(
    request: HttpRequest,
    server: str | None = None,
    team: str | None = None,
    state: Annotated[list[RecommendationState] | None, Query()] = None,
    rule: str | None = None,
    severity: Literal["notice", "warning", "critical"] | None = None,
    limit: Limit = DEFAULT,
    cursor: Cursor = None,
) -> dict[str, Any]:
    """Recommendations for the servers of my teams, the most severe first; all states unless some are named."""
    rows = access.visible(caller(request), Recommendation.objects.all(), team="server__team")
    if server:
        rows = rows.filter(server=server_of(request, server)[0])
    wanted = team_filter(request, team)
    if wanted:
        rows = rows.filter(server__team_id=wanted)
    if state:
        rows = rows.filter(state__in=state)
    if rule:
        rows = rows.filter(rule=rule)
    if severity:
        rows = rows.filter(severity=severity)
    found, following = page(rows, ("-severity_rank", "opened_at", "id"), cursor=cursor, limit=limit)
    return {"items": [documents.recommendation(one) for one in found], "next": following}


@api.get(
    "/recommendations/{id}",
    operation_id="getRecommendation",
    response=answers(200, RecommendationOut, 404),
    tags=["recommendations"],
)
def get_recommendation(request: HttpRequest, id: Id) -> dict[str, Any]:
    """One recommendation, as last judged."""
    found, _ = access.get_visible(
        caller(request), Recommendation.objects.select_related("server"), id, team="server__team"
    )
    return documents.recommendation(found)


@api.get("/rules", operation_id="listRules", response=answers(200, RuleList), tags=["rules"])
def list_rules(request: HttpRequest) -> dict[str, Any]:
    """Every rule with its documentation."""
    return {"items": documents.rules(), "next": None}


@api.get(
    "/rule-settings",
    operation_id="listRuleSettings",
    response=answers(200, RuleSettingList, 404),
    tags=["rules"],
)
def list_rule_settings(request: HttpRequest, team: str | None = None, rule: str | None = None) -> dict[str, Any]:
    """What my teams made of rules: switched off, or judged by thresholds of their own."""
    rows = access.visible(caller(request), RuleSetting.objects.all()).select_related("team", "changed_by")
    wanted = team_filter(request, team)
    if wanted:
        rows = rows.filter(team_id=wanted)
    if rule:
        rows = rows.filter(rule=rule)
    return {"items": [documents.rule_setting(row) for row in rows], "next": None}


@api.post(
    "/rules/{id}/settings",
    operation_id="setRule",
    response=answers(201, RuleSettingOut, 403, 404, 409, 422),
    tags=["rules"],
)
def set_rule(request: HttpRequest, id: Id, body: RuleSettingIn) -> Status[Any]:
    """Switches a rule off, or gives it thresholds, for a team's servers or those with a tag. Replaces what was set."""
    team, _ = access.team_for(caller(request), Action.SET_RULES, body.team)
    if id not in {one["id"] for one in documents.rules()}:
        raise Problem(404, "not-found", "There is no such rule.")
    try:
        setting = rule_settings.set_rule(
            team=team,
            rule_id=id,
            tag=body.tag,
            off=body.off,
            thresholds=body.thresholds,
            reason=body.reason,
            actor=caller(request),
            now=timezone.now(),
        )
    except rule_settings.BadSetting as bad:
        raise Problem(422, "bad-rule-setting", str(bad)) from None
    return Status(201, documents.rule_setting(setting))


@api.delete(
    "/rule-settings/{id}",
    operation_id="clearRule",
    response=answers(204, None, 403, 404),
    tags=["rules"],
)
def clear_rule(request: HttpRequest, id: Id) -> Status[Any]:
    """The rule counts again as it is declared."""
    setting, allowed = access.get_visible(caller(request), RuleSetting.objects.all(), id)
    allowed.require(Action.SET_RULES)
    rule_settings.clear_rule(setting=setting, actor=caller(request), now=timezone.now())
    return Status(204, None)
