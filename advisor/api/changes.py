"""Change requests: proposed, reviewed, approved, applied, verified, kept or rolled back, by the pages' own services."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated, Any

from django.http import Http404, HttpRequest
from django.utils import timezone
from ninja import Query, Router, Status

from advisor.api import change_documents as documents
from advisor.api import instants
from advisor.api.change_schemas import (
    ChangeIn,
    ChangeRequestIn,
    ChangeRequestList,
    ChangeRequestOut,
    ChangeRequestState,
    ChangeRequestUpdateIn,
    EmptyIn,
    ReviewIn,
    ScheduleIn,
)
from advisor.api.operation import Cursor, Id, Limit, answers, server_of, team_filter
from advisor.api.paging import DEFAULT, page
from advisor.api.problems import Problem
from advisor.api.tokens import caller
from advisor.changes import applying, gate, services, verifying
from advisor.changes.models import ChangeRequest
from advisor.recommendations.models import Recommendation
from advisor.teams import access
from advisor.teams.roles import Action
from collector.models import Server

router = Router(tags=["changes"])


def _requests(request: HttpRequest) -> Any:
    rows = ChangeRequest.objects.select_related("team", "plan", "author", "last_editor").prefetch_related("wanted")
    return access.visible(caller(request), rows)


def _found(request: HttpRequest, change_id: str) -> tuple[ChangeRequest, access.Access]:
    return access.get_visible(caller(request), _requests(request), change_id)


def _done(request: HttpRequest, what: Callable[[], Any], change_id: str = "") -> dict[str, Any]:
    """Does it, and answers the request as it is then; a service that refuses becomes a problem document."""
    try:
        done = what()
    except services.NotReady as refused:
        checks = [documents.check(one) for one in refused.checks]
        raise Problem(409, refused.code, documents.sentences(refused.checks), checks=checks) from None
    except services.Refused as refused:
        raise Problem(409, refused.code, str(refused)) from None
    except services.BadRequest as bad:
        errors = [{"where": where, "what": what} for where, what in bad.errors.items()]
        raise Problem(422, "bad-change-request", str(bad), errors=errors) from None
    except services.CameLate as late:
        raise Problem(409, "came-late", str(late)) from None
    except services.WrongState as wrong:
        raise Problem(409, "wrong-state", str(wrong), state=wrong.state) from None
    except gate.NotOpen as shut:
        raise _shut(request, change_id, shut) from None
    except applying.CannotRollBack as refused:
        raise Problem(403 if refused.code == "role-too-small" else 409, refused.code, str(refused)) from None
    except verifying.NothingApplied as nothing:
        raise Problem(409, "nothing-applied", str(nothing), state=nothing.state) from None
    return documents.whole(_requests(request).get(pk=done.pk if isinstance(done, ChangeRequest) else change_id))


def _shut(request: HttpRequest, change_id: str, shut: gate.NotOpen) -> Problem:
    """Why it is not applied, every condition that is not met; without an account the statements are offered to copy."""
    code = next((one.code for one in shut.unmet if one.code == "role-too-small"), shut.code)
    further: dict[str, Any] = {"conditions": [documents.condition(one) for one in shut.unmet]}
    if code == "no-apply-credential":
        further["statements"] = documents.statements(_requests(request).get(pk=change_id))
    return Problem(403 if code == "role-too-small" else 409, code, str(shut), **further)


@router.get("/change-requests", operation_id="listChangeRequests", response=answers(200, ChangeRequestList, 404))
def list_change_requests(
    request: HttpRequest,
    server: str | None = None,
    team: str | None = None,
    state: Annotated[list[ChangeRequestState] | None, Query()] = None,
    limit: Limit = DEFAULT,
    cursor: Cursor = None,
) -> dict[str, Any]:
    """The change requests of my teams, the newest first."""
    rows = _requests(request)
    if server:
        rows = rows.filter(wanted__server=server_of(request, server)[0]).distinct()
    wanted = team_filter(request, team)
    if wanted:
        rows = rows.filter(team_id=wanted)
    if state:
        rows = rows.filter(state__in=state)
    found, following = page(rows, ("-created_at", "-id"), cursor=cursor, limit=limit)
    return {"items": [documents.short(one) for one in found], "next": following}


@router.post("/change-requests", operation_id="createChangeRequest", response=answers(201, ChangeRequestOut, 403, 404))
def create_change_request(request: HttpRequest, body: ChangeRequestIn) -> Status[Any]:
    """A new draft. Nothing happens before it is submitted, approved by another person, and applied.

    ``changes`` may be left out where a recommendation is named: its own are taken.
    """
    changes = _changes(request, body.changes, [body.recommendation] if body.recommendation else [])
    team = changes[0].server.team
    if any(one.server.team_id != team.pk for one in changes):
        raise Problem(422, "bad-change-request", "The servers of one change request belong to one team.")
    may = access.access_to(caller(request), team.pk)
    if may is None:
        raise Http404
    may.require(Action.PROPOSE_CHANGE)
    texts = body.dict(include={"title", "reason", "expected_effect", "price", "test_plan", "wait_seconds", "emergency"})
    return Status(
        201,
        _done(
            request,
            lambda: services.create(
                team=team,
                actor=caller(request),
                changes=changes,
                first_server=server_of(request, body.first_server)[0] if body.first_server else None,
                now=timezone.now(),
                **texts,
            ),
        ),
    )


@router.get("/change-requests/{id}", operation_id="getChangeRequest", response=answers(200, ChangeRequestOut, 404))
def get_change_request(request: HttpRequest, id: Id) -> dict[str, Any]:
    """One change request with its plan, reviews, conditions and how applying goes."""
    return documents.whole(_found(request, id)[0])


@router.put(
    "/change-requests/{id}",
    operation_id="updateChangeRequest",
    response=answers(200, ChangeRequestOut, 403, 404, 409),
)
def update_change_request(request: HttpRequest, id: Id, body: ChangeRequestUpdateIn) -> dict[str, Any]:
    """Another text or other values. It is a draft again, and every approval of it falls."""
    found, may = _found(request, id)
    may.require(Action.PROPOSE_CHANGE)
    changes = _changes(request, body.changes, [body.recommendation] if body.recommendation else [])
    texts = body.dict(include={"title", "reason", "expected_effect", "price", "test_plan", "wait_seconds", "emergency"})
    return _done(
        request,
        lambda: services.edit(
            request=found,
            actor=caller(request),
            changes=changes,
            first_server=server_of(request, body.first_server)[0] if body.first_server else None,
            version=body.version,
            now=timezone.now(),
            **texts,
        ),
    )


@router.post(
    "/change-requests/{id}/submit",
    operation_id="submitChangeRequest",
    response=answers(200, ChangeRequestOut, 403, 404, 409),
)
def submit_change_request(request: HttpRequest, id: Id, body: EmptyIn | None = None) -> dict[str, Any]:
    """Reads the servers, makes the plan and asks for reviews; 409 with every check where no plan can be made."""
    found, may = _found(request, id)
    may.require(Action.PROPOSE_CHANGE)
    return _done(request, lambda: services.submit(request=found, actor=caller(request), now=timezone.now()))


@router.post(
    "/change-requests/{id}/reviews",
    operation_id="reviewChangeRequest",
    response=answers(201, ChangeRequestOut, 403, 404, 409),
)
def review_change_request(request: HttpRequest, id: Id, body: ReviewIn) -> Status[Any]:
    """A verdict on the plan with this hash, or a comment. An approval takes a token with the scope ``approve``."""
    found, _ = _found(request, id)
    return Status(
        201,
        _done(
            request,
            lambda: services.review(
                request=found,
                actor=caller(request),
                verdict=body.verdict,
                text=body.text,
                plan_hash=body.plan_hash,
                line=body.line,
                now=timezone.now(),
            ),
        ),
    )


@router.post(
    "/change-requests/{id}/withdraw",
    operation_id="withdrawChangeRequest",
    response=answers(200, ChangeRequestOut, 403, 404, 409),
)
def withdraw_change_request(request: HttpRequest, id: Id, body: EmptyIn | None = None) -> dict[str, Any]:
    """Nobody wants it any more. What is being applied or is applied is rolled back instead."""
    found, may = _found(request, id)
    may.require(Action.PROPOSE_CHANGE)
    return _done(request, lambda: services.withdraw(request=found, actor=caller(request), now=timezone.now()))


@router.post(
    "/change-requests/{id}/schedule",
    operation_id="scheduleChangeRequest",
    response=answers(200, ChangeRequestOut, 403, 404, 409),
)
def schedule_change_request(request: HttpRequest, id: Id, body: ScheduleIn) -> dict[str, Any]:
    """An approved request begins by itself at that instant, in my name; null: it does not any more."""
    found, may = _found(request, id)
    may.require(Action.APPLY_CHANGE)
    now = timezone.now()
    at = None if body.at is None else _instant(body.at, now.timestamp())
    return _done(request, lambda: services.schedule(request=found, actor=caller(request), at=at, now=now))


@router.post(
    "/change-requests/{id}/apply",
    operation_id="applyChangeRequest",
    response=answers(202, ChangeRequestOut, 403, 404, 409),
)
def apply_change_request(request: HttpRequest, id: Id, body: EmptyIn | None = None) -> Status[Any]:
    """Begins to apply the approved plan. 409 with every condition that is not met; without an account for applying
    the statements are offered to copy.
    """
    found, may = _found(request, id)
    may.require(Action.APPLY_CHANGE)
    begun = lambda: applying.begin(request=found, actor=caller(request), now=timezone.now())  # noqa: E731
    return Status(202, _done(request, begun, found.pk))


@router.post(
    "/change-requests/{id}/roll-back",
    operation_id="rollBackChangeRequest",
    response=answers(202, ChangeRequestOut, 403, 404, 409),
)
def roll_back_change_request(request: HttpRequest, id: Id, body: EmptyIn | None = None) -> Status[Any]:
    """Begins to restore exactly the approved old values. It needs no second approval."""
    found, may = _found(request, id)
    may.require(Action.APPLY_CHANGE)
    begun = lambda: applying.roll_back(request=found, actor=caller(request), now=timezone.now())  # noqa: E731
    return Status(202, _done(request, begun, found.pk))


@router.post(
    "/change-requests/{id}/verify",
    operation_id="verifyChangeRequest",
    response=answers(200, ChangeRequestOut, 403, 404, 409),
)
def verify_change_request(request: HttpRequest, id: Id, body: EmptyIn | None = None) -> dict[str, Any]:
    """Judges with what is known by now whether the change helped."""
    found, may = _found(request, id)
    may.require(Action.SEE)
    judged = lambda: verifying.verify_now(request=found, actor=caller(request), now=timezone.now())  # noqa: E731
    return _done(request, judged, found.pk)


@router.post(
    "/change-requests/{id}/keep",
    operation_id="keepChangeRequest",
    response=answers(200, ChangeRequestOut, 403, 404, 409),
)
def keep_change_request(request: HttpRequest, id: Id, body: EmptyIn | None = None) -> dict[str, Any]:
    """The applied change stays."""
    found, may = _found(request, id)
    may.require(Action.APPLY_CHANGE)
    return _done(request, lambda: verifying.keep(request=found, actor=caller(request), now=timezone.now()))


def _changes(request: HttpRequest, given: list[ChangeIn], recommendations: list[str]) -> list[services.Change]:
    """What is wanted, of servers that the caller may see. Raises Http404, and Problem where nothing is wanted."""
    behind: list[Recommendation] = []
    for one in recommendations:
        rows = Recommendation.objects.select_related("server__team")
        behind.append(access.get_visible(caller(request), rows, one, team="server__team")[0])
    servers: dict[str, Server] = {}
    for change in given:
        if change.server not in servers:
            servers[change.server] = server_of(request, change.server)[0]
    found = [services.Change(servers[one.server], one.variable, one.text, _behind(one, behind)) for one in given]
    if not given:
        found = [
            services.Change(row.server, str(change["name"]), str(change["proposed"]), row)
            for row in behind
            for change in row.document.get("changes", [])
            if change.get("kind") == "variable"
        ]
    if not found:
        raise Problem(422, "bad-change-request", "Name at least one change, or a recommendation that proposes one.")
    return found


def _behind(change: ChangeIn, recommendations: list[Recommendation]) -> Recommendation | None:
    return next((one for one in recommendations if one.server_id == change.server), None)


def _instant(text: str, now: float) -> datetime:
    try:
        return datetime.fromtimestamp(instants.read(text, now=now, parameter="at"), UTC)
    except (OverflowError, OSError, ValueError):
        raise Problem(422, "bad-instant", "at lies beyond any calendar.") from None
