"""Events: what happened to the servers of my teams, and annotations that programs and people add."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any

from django.http import HttpRequest
from django.utils import timezone
from ninja import Header, Query, Router, Schema, Status
from pydantic import Field

from advisor.api import instants
from advisor.api.operation import Cursor, Id, Limit, answers, server_of, team_filter
from advisor.api.paging import DEFAULT, page
from advisor.api.problems import Problem
from advisor.api.tokens import caller
from advisor.journal import annotations as annotating
from advisor.journal.models import Event
from advisor.teams import access
from advisor.teams.roles import Action
from advisor.ui import events as words

router = Router()


class EventOut(Schema):
    """One thing that happened. ``kind`` is for programs, ``text`` for people; ``data`` holds the named values."""

    id: str
    server: str | None = Field(description="id of the server it happened to; null for what concerns a whole team")
    kind: str = Field(description="server.restarted, server.variables_changed, annotation.created, ...")
    group: str = Field(description="restart, change, version, role, finding, deploy, annotation or watching")
    at: datetime
    ended_at: datetime | None
    text: str
    tags: list[str]
    by: str | None = Field(description="who did it; null where nobody did, or it was done past Tidemark")
    data: dict[str, Any]


class EventList(Schema):
    """A page of events, the newest first."""

    items: list[EventOut]
    next: str | None = Field(description="send it as ?cursor= to get the next page")


class AnnotationIn(Schema):
    """What happened, in words of your own. The tag ``deploy`` makes it a deployment."""

    text: str = Field(max_length=10_000)
    at: str | None = Field(None, max_length=40, description="now, now-5m, unix seconds or milliseconds, or ISO 8601")
    ended_at: str | None = Field(None, max_length=40, description="likewise, for what took a while")
    tags: list[str] = []


@router.get("/events", operation_id="listEvents", response=answers(200, EventList, 404), tags=["events"], by_alias=True)
def list_events(
    request: HttpRequest,
    server: str | None = None,
    team: str | None = None,
    kind: Annotated[list[str] | None, Query(description="kinds, exactly as events have them")] = None,
    from_: Annotated[str | None, Query(alias="from", max_length=40)] = None,
    to: Annotated[str | None, Query(max_length=40)] = None,
    limit: Limit = DEFAULT,
    cursor: Cursor = None,
) -> dict[str, Any]:
    """What happened to the servers of my teams, the newest first."""
    rows = access.visible(caller(request), Event.objects.all()).select_related("actor")
    if server:
        rows = rows.filter(server_id=server_of(request, server)[0].pk)
    wanted = team_filter(request, team)
    if wanted:
        rows = rows.filter(team_id=wanted)
    if kind:
        rows = rows.filter(kind__in=kind)
    now = timezone.now().timestamp()
    if from_:
        rows = rows.filter(at__gte=_instant(from_, now, "from"))
    if to:
        rows = rows.filter(at__lt=_instant(to, now, "to"))
    found, following = page(rows, ("-at", "-id"), cursor=cursor, limit=limit)
    return {"items": [document(one) for one in found], "next": following}


@router.post(
    "/servers/{id}/annotations",
    operation_id="createAnnotation",
    response=answers(201, EventOut, 403, 404, 409) | {200: EventOut},
    tags=["events"],
    by_alias=True,
)
def create_annotation(
    request: HttpRequest,
    id: Id,
    body: AnnotationIn,
    idempotency_key: Annotated[
        str | None,
        Header(alias="Idempotency-Key", description="sending the same annotation again by its key changes nothing"),
    ] = None,
) -> Status[Any]:
    """Writes beside the charts of a server what happened: a deployment, an import, a decision.

    201 for a new one; 200 with the one that is there where it was sent by the same Idempotency-Key before.
    """
    found, allowed = server_of(request, id)
    allowed.require(Action.ANNOTATE)
    now = timezone.now()
    try:
        event, new = annotating.create_annotation(
            team_id=found.team_id,
            server_id=found.pk,
            text=body.text,
            actor=caller(request),
            now=now,
            at=None if body.at is None else _instant(body.at, now.timestamp(), "at"),
            ended_at=None if body.ended_at is None else _instant(body.ended_at, now.timestamp(), "ended_at"),
            tags=body.tags,
            key=idempotency_key,
        )
    except annotating.KeyTaken as taken:
        raise Problem(409, "key-taken", str(taken)) from None
    except annotating.BadAnnotation as bad:
        raise Problem(422, "bad-annotation", str(bad), errors=[{"where": bad.field, "what": str(bad)}]) from None
    return Status(201 if new else 200, document(event))


def document(event: Event) -> dict[str, Any]:
    """An event in the API's shape."""
    data = event.data if isinstance(event.data, dict) else {}
    return {
        "id": str(event.pk),
        "server": event.server_id or None,
        "kind": event.kind,
        "group": words.group_of(event.kind, data).id,
        "at": event.at,
        "ended_at": words.ended_at(data),
        "text": words.sentence(event.kind, data),
        "tags": words.tags_of(data),
        "by": event.actor.get_username() if event.actor else None,
        "data": data,
    }


def _instant(text: str, now: float, parameter: str) -> datetime:
    try:
        return datetime.fromtimestamp(instants.read(text, now=now, parameter=parameter), UTC)
    except (OverflowError, OSError, ValueError):
        raise Problem(422, "bad-instant", f"{parameter} lies beyond any calendar.") from None
