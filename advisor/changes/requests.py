"""Change requests as they are written: made, edited, withdrawn. Each function is one transaction.

What is wanted is checked for its form here and for its sense when the plan is made, since only the live server knows
what its variables take; but what is never changed from here does not even get into a draft.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import cast

from django.contrib.auth.models import AbstractBaseUser, User
from django.db import IntegrityError, transaction
from django.db.models import Max

from advisor.changes import states, telling
from advisor.changes.models import ChangeRequest, Review, State, WantedChange
from advisor.changes.states import CameLate, Step
from advisor.mysql.catalogue import CATALOGUE, ChangeClass
from advisor.mysql.statements import is_forbidden
from advisor.mysql.version import ServerVersion
from advisor.recommendations.models import Recommendation
from advisor.teams.models import Team
from collector import snapshots
from collector.models import Server

MOST_CHANGES = 200
LONGEST_TITLE = 200
LONGEST_TEXT = 20_000
LONGEST_VALUE = 500
_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
_TOKEN = re.compile(r"\btm_[A-Za-z0-9_-]{32,}")


class BadRequest(ValueError):
    """What was given cannot be a change request. ``errors`` has a sentence for each field: title, changes.3, ..."""

    def __init__(self, errors: dict[str, str]) -> None:
        super().__init__(" ".join(errors.values()))
        self.errors = errors


@dataclass(frozen=True)
class Change:
    """One variable of one server and the value it is wanted to have, as typed."""

    server: Server
    variable: str
    value: str
    recommendation: Recommendation | None = None


@dataclass(frozen=True)
class Texts:
    """What a person says of a request."""

    title: str
    reason: str = ""
    expected_effect: str = ""
    price: str = ""
    test_plan: str = ""


def create(
    *,
    team: Team,
    actor: AbstractBaseUser,
    title: str,
    changes: Sequence[Change],
    now: datetime,
    reason: str = "",
    expected_effect: str = "",
    price: str = "",
    test_plan: str = "",
    first_server: Server | None = None,
    wait_seconds: int = 0,
    emergency: bool = False,
    rolls_back: ChangeRequest | None = None,
) -> ChangeRequest:
    """A new draft. Raises BadRequest."""
    texts = Texts(title, reason, expected_effect, price, test_plan)
    checked = _checked(team, texts, changes, first_server, wait_seconds)
    for attempt in range(20):
        try:
            with transaction.atomic():
                highest = ChangeRequest.objects.filter(team=team).aggregate(Max("number"))["number__max"] or 0
                request = ChangeRequest.objects.create(
                    team=team,
                    number=highest + 1,
                    author=cast(User, actor),
                    author_name=actor.get_username(),
                    last_editor=cast(User, actor),
                    first_server=first_server,
                    wait_seconds=wait_seconds,
                    emergency=emergency,
                    rolls_back=rolls_back,
                    created_at=now,
                    changed_at=now,
                    **vars(texts),
                )
                _want(request, checked)
                telling.tell(
                    request=request,
                    step=Step.CREATE.value,
                    before="",
                    actor=actor,
                    now=now,
                    why=None,
                    data=_what(checked),
                )
            return request
        except IntegrityError:
            # Somebody of the team took the number in this moment.
            if attempt == 19 or not ChangeRequest.objects.filter(team=team, number=highest + 1).exists():
                raise
    raise AssertionError("not reached")


@transaction.atomic
def edit(
    *,
    request: ChangeRequest,
    actor: AbstractBaseUser,
    now: datetime,
    title: str,
    changes: Sequence[Change],
    reason: str = "",
    expected_effect: str = "",
    price: str = "",
    test_plan: str = "",
    first_server: Server | None = None,
    wait_seconds: int = 0,
    emergency: bool = False,
    version: int | None = None,
) -> ChangeRequest:
    """Another text or other values: it is a draft again, its plan is none any more and its approvals fall.

    ``version`` is the one that the person saw. Raises BadRequest, WrongState, CameLate.
    """
    if version is not None and version != request.version:
        raise CameLate
    texts = Texts(title, reason, expected_effect, price, test_plan)
    checked = _checked(request.team, texts, changes, first_server, wait_seconds)
    before = set(request.wanted.exclude(recommendation=None).values_list("recommendation_id", flat=True))
    moved = states.move(
        request=request,
        step=Step.EDIT,
        actor=actor,
        now=now,
        data=_what(checked),
        fields={
            **vars(texts),
            "plan": None,
            "last_editor": actor,
            "first_server": first_server,
            "wait_seconds": wait_seconds,
            "emergency": emergency,
        },
    )
    let_fall(request=moved, now=now, why="edited")
    moved.wanted.all().delete()
    _want(moved, checked)
    dropped = before - {one.recommendation.pk for one in checked if one.recommendation is not None}
    rows = Recommendation.objects.filter(pk__in=dropped).select_related("server")
    telling.release(request=moved, recommendations_of=rows, actor=actor, now=now)
    return moved


def withdraw(
    *, request: ChangeRequest, actor: AbstractBaseUser, now: datetime, version: int | None = None
) -> ChangeRequest:
    """Nobody wants it any more. Raises WrongState once it is being applied, CameLate."""
    if version is not None and version != request.version:
        raise CameLate
    with transaction.atomic():
        states.hold(request)
        let_fall(request=request, now=now, why="withdrawn")
        return states.move(request=request, step=Step.WITHDRAW, actor=actor, now=now)


def let_fall(*, request: ChangeRequest, now: datetime, why: str) -> int:
    """Approvals that were given do not count any more; how many. They stay on record."""
    standing = Review.objects.filter(request=request, fallen_at=None, verdict=Review.Verdict.APPROVE)
    return standing.update(fallen_at=now, fallen_why=why)


def why_never(variable: str, version: ServerVersion | None = None) -> str:
    """Why a variable is never changed from here, as a sentence; empty where it may be.

    Without a version whatever the flavors' newest servers say counts: a draft is refused what is never changed on any.
    """
    if _NAME.fullmatch(variable) is None:
        return f"{variable[:80]!r} is no name of a system variable."
    if is_forbidden(variable):
        return f"{variable} is a variable that Tidemark never sets."
    if version is None:
        return ""
    facts = CATALOGUE.find(variable, version)
    if facts is None:
        return f"{version} has no system variable {variable} that is known here."
    if facts.change_class is ChangeClass.NEVER:
        return f"{variable} is never changed from here."
    return ""


def _checked(
    team: Team, texts: Texts, changes: Sequence[Change], first: Server | None, wait_seconds: int
) -> list[Change]:
    errors: dict[str, str] = {}
    title = texts.title.strip()
    if not title or len(title) > LONGEST_TITLE or not title.isprintable():
        errors["title"] = f"The title has 1 to {LONGEST_TITLE} characters on one line."
    for field, text in vars(texts).items():
        if len(text) > LONGEST_TEXT or "\0" in text:
            errors[field] = f"The text has at most {LONGEST_TEXT:,} characters."
        if _TOKEN.search(text):
            errors[field] = "The text holds an API token: leave it out, and end that token, since it was shown."
    if not 1 <= len(changes) <= MOST_CHANGES:
        errors["changes"] = f"A change request has 1 to {MOST_CHANGES} changes."
    if not 0 <= wait_seconds <= 7 * 86_400:
        errors["wait_seconds"] = "The wait after the first server is at most seven days."
    versions: dict[str, ServerVersion | None] = {}
    seen: set[tuple[str, str]] = set()
    for number, one in enumerate(changes[:MOST_CHANGES]):
        if one.server.team_id != team.pk:
            errors[f"changes.{number}"] = "The server belongs to another team."
            continue
        if one.server.pk not in versions:
            versions[one.server.pk] = _version_of(one.server)
        wrong = why_never(one.variable, versions[one.server.pk]) or _why_no_value(one)
        if not wrong and (one.server.pk, one.variable) in seen:
            wrong = f"{one.variable} of {one.server.name} is named twice."
        if not wrong and one.recommendation is not None and one.recommendation.server_id != one.server.pk:
            wrong = "The recommendation is about another server."
        seen.add((one.server.pk, one.variable))
        if wrong:
            errors[f"changes.{number}"] = wrong
    if first is not None and first.pk not in versions:
        errors["first_server"] = "The first server is none of those that are changed."
    if errors:
        raise BadRequest(errors)
    return list(changes)


def _version_of(server: Server) -> ServerVersion | None:
    """The version as last seen; None where no snapshot was stored yet, and the plan alone will know."""
    newest = snapshots.latest(server.pk)
    return newest.identity.version if newest is not None else None


def _why_no_value(one: Change) -> str:
    if not one.value.strip() and one.value != "":
        return f"The value of {one.variable} is blank."
    if len(one.value) > LONGEST_VALUE or any(ord(character) < 32 for character in one.value):
        return f"The value of {one.variable} has at most {LONGEST_VALUE} characters on one line."
    return ""


def _want(request: ChangeRequest, changes: Sequence[Change]) -> None:
    WantedChange.objects.bulk_create(
        [
            WantedChange(
                request=request,
                server=one.server,
                variable=one.variable,
                value=one.value,
                recommendation=one.recommendation,
            )
            for one in changes
        ]
    )


def _what(changes: Sequence[Change]) -> dict[str, object]:
    """What is wanted, for the audit and the journal."""
    return {
        "wanted": [{"server": one.server.pk, "variable": one.variable, "value": one.value} for one in changes],
    }


def is_open(request: ChangeRequest) -> bool:
    """Whether it may be edited and withdrawn still."""
    return states.can(request, Step.EDIT) and request.state != State.WITHDRAWN
