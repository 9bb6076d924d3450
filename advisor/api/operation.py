"""What operations have in common: parameters, the problems they may answer with, finding what the caller may see."""

from __future__ import annotations

from typing import Annotated, Any

from django.http import HttpRequest
from ninja import Path, Query

from advisor.api.paging import LARGEST
from advisor.api.schemas import ProblemOut
from advisor.api.tokens import caller
from advisor.teams import access
from advisor.teams.roles import Action
from collector.models import Server

Id = Annotated[str, Path(max_length=64)]
Limit = Annotated[int, Query(ge=1, le=LARGEST)]
Cursor = Annotated[str | None, Query(max_length=500)]


def answers(status: int, schema: Any, *errors: int) -> dict[int, Any]:
    """The responses of an operation, with the problems that any of them may have."""
    return {status: schema, **dict.fromkeys(sorted({401, 422, *errors}), ProblemOut)}


def servers_of(request: HttpRequest) -> Any:
    """The servers that the caller may see, with what a server's document needs."""
    return access.servers_for(caller(request)).select_related("team", "state", "fleet_row")


def server_of(request: HttpRequest, server_id: str) -> tuple[Server, access.Access]:
    """One of them. Raises Http404."""
    return access.get_visible(caller(request), servers_of(request), server_id)


def team_filter(request: HttpRequest, team: str | None) -> str | None:
    """The id of the caller's team of that id or name. Raises Http404 for any other."""
    return None if not team else access.team_for(caller(request), Action.SEE, team)[0].pk
