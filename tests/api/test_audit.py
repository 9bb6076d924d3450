"""The audit by the API: the same entries and filters as the page."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from advisor.teams import audit

from .calling import Caller

AT = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


@pytest.fixture
def entries(team: Any, other_team: Any, owner: Any, team_mate: Any) -> None:
    for number, (where, who) in enumerate([(team, owner), (team, team_mate), (other_team, owner), (None, None)]):
        audit.record(
            team_id=where.pk if where else None,
            actor=who,
            action="change.approved" if number == 0 else "server.added",
            subject=f"thing {number}",
            data={"number": number, "nothing": None},
            at=AT + timedelta(hours=number),
        )


def told(answer: Any) -> list[str]:
    assert answer.status_code == 200, answer.content
    return [one["subject"] for one in answer.json()["items"] if one["subject"].startswith("thing")]


def test_members_list_their_teams_entries_and_administrators_what_concerns_no_team(
    entries: None, team_mate: Any, owner: Any, outsider: Any, token_of: Callable[[Any], str]
) -> None:
    assert told(Caller(token_of(team_mate))("listAuditEntries")) == ["thing 1", "thing 0"]
    assert told(Caller(token_of(owner))("listAuditEntries")) == ["thing 3", "thing 1", "thing 0"]
    assert told(Caller(token_of(outsider))("listAuditEntries")) == ["thing 2"]


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({"action": "change"}, ["thing 0"]),
        ({"action": "server.added"}, ["thing 1"]),
        ({"actor": "Mate"}, ["thing 1"]),
        ({"subject": "THING 0"}, ["thing 0"]),
        ({"from": "2026-11-20T12:30:00Z"}, ["thing 1"]),
        ({"to": "2026-11-20T13:00:00Z"}, ["thing 0"]),
        ({"team": "databases"}, ["thing 1", "thing 0"]),
        ({"action": "", "actor": "nobody"}, []),
    ],
)
def test_entries_are_found_by_the_same_filters_as_on_the_page(
    entries: None, team_mate: Any, token_of: Callable[[Any], str], asked: dict[str, str], expected: list[str]
) -> None:
    assert told(Caller(token_of(team_mate))("listAuditEntries", **asked)) == expected


def test_pages_follow_each_other_by_the_cursor(
    entries: None, owner: Any, token_of: Callable[[Any], str], team: Any
) -> None:
    caller, seen, cursor = Caller(token_of(owner)), [], None
    while True:
        answer = caller("listAuditEntries", limit=2, **({"cursor": cursor} if cursor else {})).json()
        seen += [one["sequence"] for one in answer["items"]]
        cursor = answer["next"]
        if cursor is None:
            break
    assert seen == sorted(seen, reverse=True)
    assert len(seen) == len(set(seen)) >= 4


def test_an_entry_has_what_it_takes_to_check_it(entries: None, owner: Any, token_of: Callable[[Any], str]) -> None:
    one = Caller(token_of(owner))("listAuditEntries", subject="thing 0").json()["items"][0]
    assert (one["data"], one["actor"], one["at"]) == ({"number": 0, "nothing": None}, "owner", "2026-11-20T12:00:00Z")
    assert len(one["digest"]) == len(one["previous"]) == 64


@pytest.mark.parametrize(
    ("asked", "status"),
    [({"team": "Others"}, 404), ({"from": "yesterday"}, 422), ({"cursor": "x"}, 422), ({"limit": 0}, 422)],
)
def test_what_cannot_be_asked_is_a_problem_document(
    entries: None, team_mate: Any, token_of: Callable[[Any], str], asked: dict[str, Any], status: int
) -> None:
    answer = Caller(token_of(team_mate))("listAuditEntries", **asked)
    assert (answer.status_code, answer["Content-Type"]) == (status, "application/problem+json")
