"""A recommendation is somebody's, until a day, with a ticket elsewhere and what people said of it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from advisor.journal.models import Event
from advisor.recommendations import assignments
from advisor.recommendations.assignments import BadAssignment
from advisor.recommendations.models import Assignment, Comment
from advisor.teams.models import AuditEntry
from tests.web import payloads


def _address(advice: Any, end: str = "") -> str:
    return f"/s/{advice.server_id}/recommendations/{advice.pk}{end}"


def test_it_is_given_to_somebody_with_a_day_and_a_ticket_and_the_list_shows_it(
    advice: Any, team_mate: Any, sign_in: Callable[[Any], Client]
) -> None:
    client = sign_in(team_mate)
    day = (timezone.now() + timedelta(days=3)).date().isoformat()
    wanted = {"assignee": team_mate.pk, "due_on": day, "ticket": "https://tickets.example.test/DB-7"}
    assert client.post(_address(advice, "/assign"), wanted).status_code == 302
    page = client.get(_address(advice)).content.decode()
    assert f"due {day}" in page
    assert 'href="https://tickets.example.test/DB-7" rel="noreferrer noopener"' in page
    listed = client.get(f"/s/{advice.server_id}").content.decode()
    assert f"due {day}" in listed
    assert "<b>mate</b>" in listed
    told = Event.objects.get(kind="recommendation.assigned")
    assert (told.data["assignee"], told.data["due"], told.actor) == ("mate", day, team_mate)
    assert AuditEntry.objects.get(action="recommendation.assigned").actor_name == "mate"


def test_saying_the_same_again_is_not_told_twice(advice: Any, team_mate: Any) -> None:
    wanted: dict[str, Any] = {"assignee": team_mate, "due_on": None, "ticket": ""}
    for _time in range(2):
        assignments.assign(recommendation=advice, **wanted, actor=team_mate, now=timezone.now())
    assert Event.objects.filter(kind="recommendation.assigned").count() == 1


@pytest.mark.parametrize(
    "ticket",
    [
        "javascript:tmx()", "http://tickets.example.test/1", "https://", "https://name:word@tickets.example.test/",
        "//tickets.example.test", "https://tickets.example.test/\"onx='", "https://[", "data:text/html,x",
        "https://tickets.example.test/" + "x" * 500, *payloads.PAYLOADS,
    ],
)  # fmt: skip
def test_a_ticket_is_an_https_address_and_nothing_else(ticket: str) -> None:
    with pytest.raises(BadAssignment):
        assignments.checked_ticket(ticket)


def test_nobody_of_another_team_and_no_day_in_the_past(
    advice: Any, team_mate: Any, outsider: Any, sign_in: Callable[[Any], Client]
) -> None:
    now = timezone.now()
    with pytest.raises(BadAssignment, match="team"):
        assignments.assign(
            recommendation=advice, assignee=outsider, due_on=None, ticket="", actor=team_mate, now=now
        )  # fmt: skip
    form = {"assignee": outsider.pk, "due_on": "2020-01-01", "ticket": "ftp://x"}
    answer = sign_in(team_mate).post(_address(advice, "/assign"), form)
    assert answer.status_code == 422
    assert 'value="ftp://x"' in answer.content.decode()  # nothing that was typed is lost
    assert not Assignment.objects.exists()


def test_what_is_said_of_it_is_text_on_its_page(advice: Any, team_mate: Any, sign_in: Callable[[Any], Client]) -> None:
    client = sign_in(team_mate)
    for text in payloads.PAYLOADS[:12]:
        assert client.post(_address(advice, "/comment"), {"text": text}).status_code == 302
    page = client.get(_address(advice)).content.decode()
    assert "<script>tmx" not in page
    assert "onerror=tmx()&gt;" in page
    assert Comment.objects.filter(recommendation=advice, person_name="mate").count() == 12
    assert Event.objects.filter(kind="recommendation.commented").count() == 12
