"""The audit: who did what in my teams, the newest first."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any

from django.http import HttpRequest
from django.utils import timezone
from ninja import Query, Router, Schema
from pydantic import Field

from advisor.api import instants
from advisor.api.operation import Cursor, Limit, answers
from advisor.api.paging import DEFAULT, page
from advisor.api.problems import Problem
from advisor.api.tokens import caller
from advisor.teams import access, audit_reading
from advisor.teams.roles import Action

router = Router()


class AuditEntryOut(Schema):
    """One entry. ``digest`` is an HMAC over all the rest, ``previous`` the digest of the entry before it."""

    sequence: int = Field(description="numbers all entries of the installation, without a gap")
    at: datetime
    team: str | None = Field(description="null for what concerns the whole installation")
    team_name: str = Field(description="as it was called then")
    actor: str | None = Field(description="the account that did it; null where none did")
    actor_id: str | None
    origin: str = Field(description="page, api, command, task or system")
    action: str = Field(description="change.approved, server.added, session.signed_in, ...")
    subject: str
    data: dict[str, Any]
    request_id: str
    address: str
    key_id: str
    previous: str
    digest: str


class AuditEntryList(Schema):
    """A page of entries, the newest first."""

    items: list[AuditEntryOut]
    next: str | None = Field(description="send it as ?cursor= to get the next page")


@router.get(
    "/audit",
    operation_id="listAuditEntries",
    response=answers(200, AuditEntryList, 403, 404),
    tags=["audit"],
    by_alias=True,
)
def list_audit_entries(
    request: HttpRequest,
    team: str | None = None,
    actor: Annotated[str, Query(max_length=150, description="a person's name")] = "",
    action: Annotated[str, Query(max_length=60, description="change.approved, or its first word: change")] = "",
    subject: Annotated[str, Query(max_length=200, description="a part of it")] = "",
    from_: Annotated[str | None, Query(alias="from", max_length=40)] = None,
    to: Annotated[str | None, Query(max_length=40)] = None,
    limit: Limit = DEFAULT,
    cursor: Cursor = None,
) -> dict[str, Any]:
    """Who did what. What concerns no team, such as who signed in, is listed for administrators of Tidemark."""
    person = caller(request)
    filters = audit_reading.Filters(
        team=access.team_for(person, Action.SEE_AUDIT, team)[0].pk if team else "",
        actor=actor,
        action=action,
        subject=subject,
        since=_instant(from_, "from"),
        to=_instant(to, "to"),
    )
    rows = audit_reading.entries_for(person, filters)
    found, following = page(rows, ("-sequence",), cursor=cursor, limit=limit)
    return {"items": [audit_reading.document(entry) for entry in found], "next": following}


def _instant(text: str | None, parameter: str) -> datetime | None:
    if not text:
        return None
    try:
        return datetime.fromtimestamp(instants.read(text, now=timezone.now().timestamp(), parameter=parameter), UTC)
    except (OverflowError, OSError, ValueError):
        raise Problem(422, "bad-instant", f"{parameter} lies beyond any calendar.") from None
