"""Events by the API: what happened, page by page, and annotations that are written once."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from advisor.journal.models import Event
from advisor.journal.services import record

from ..conftest import build_server
from .calling import Caller

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


@pytest.fixture
def api(team_mate: Any, token_of: Callable[[Any], str]) -> Caller:
    return Caller(token_of(team_mate))


def _happened(server: Any, kind: str, minutes: int, **data: Any) -> Event:
    at = NOW + timedelta(minutes=minutes)
    return record(team_id=server.team_id, server_id=server.pk, kind=kind, at=at, data=data)


def _texts(answer: Any) -> list[str]:
    return [one["text"] for one in answer.json()["items"]]


def test_events_come_newest_first_in_words_and_in_values(api: Caller, watched: Any) -> None:
    Event.objects.all().delete()
    _happened(watched, "server.version_changed", 0, **{"from": "8.0.35", "to": "8.0.36"})
    changes = {"innodb_io_capacity": ["200", "400"], "innodb_log_file_size": ["1073741824", "2147483648"]}
    _happened(watched, "server.variables_changed", 1, changes=changes, count=2)
    items = api("listEvents", server=watched.pk).json()["items"]
    assert [one["group"] for one in items] == ["change", "version"]
    assert items[0]["text"] == "2 system variables were changed: innodb_io_capacity, innodb_log_file_size"
    assert items[0]["data"]["changes"]["innodb_io_capacity"] == ["200", "400"]
    assert items[1]["text"] == "Version: 8.0.35 → 8.0.36"
    assert items[1]["by"] is None


def test_events_are_found_by_server_kind_and_time(api: Caller, watched: Any, team: Any) -> None:
    Event.objects.all().delete()
    other = build_server(team, "beta")
    _happened(watched, "server.restarted", 0)
    _happened(watched, "server.paused", 10)
    _happened(other, "server.restarted", 20)
    assert len(api("listEvents", server=watched.pk).json()["items"]) == 2
    restarted = api("listEvents", kind="server.restarted").json()["items"]
    assert [one["server"] for one in restarted] == [other.pk, watched.pk]
    late = api("listEvents", **{"from": "2026-11-21T12:05:00Z", "to": "2026-11-21T12:20:00Z", "server": watched.pk})
    assert _texts(late) == ["Watching it was switched off"]
    assert api("listEvents", **{"from": "yesterday"}).status_code == 422
    assert api("listEvents", **{"from": "99999999999999"}).status_code in (200, 422)


def test_pages_of_events_neither_repeat_nor_hide_any(api: Caller, watched: Any) -> None:
    Event.objects.all().delete()
    made = [_happened(watched, "server.restarted", 0, number=number) for number in range(7)]
    seen, cursor = [], ""
    while True:
        answer = api("listEvents", limit=3, **({"cursor": cursor} if cursor else {})).json()
        seen += [one["data"]["number"] for one in answer["items"]]
        cursor = answer["next"]
        if cursor is None:
            break
        _happened(watched, "server.restarted", 5, number=99)
    assert seen == [event.data["number"] for event in reversed(made)]


def test_an_annotation_is_written_shown_and_not_written_twice(api: Caller, watched: Any) -> None:
    api.headers["Idempotency-Key"] = "build-481"
    body = {"text": "deploy v481", "tags": ["deploy"], "at": "2026-11-21T02:49:00Z"}
    first = api("createAnnotation", body, id=watched.pk)
    again = api("createAnnotation", body, id=watched.pk)
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json() == again.json()
    assert first.json()["by"] == "mate"
    assert (first.json()["group"], first.json()["at"]) == ("deploy", "2026-11-21T02:49:00Z")
    assert _texts(api("listEvents", kind="annotation.created")) == ["deploy v481"]
    other = api("createAnnotation", {**body, "text": "deploy v482"}, id=watched.pk)
    assert (other.status_code, other.json()["code"]) == (409, "key-taken")


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ({"text": " "}, "text"),
        ({"text": "x", "tags": ["y" * 41]}, "tags"),
        ({"text": "x", "at": "now-1h", "ended_at": "now-2h"}, "ended_at"),
    ],
)
def test_an_annotation_that_cannot_be_kept_says_why(api: Caller, watched: Any, body: Any, where: str) -> None:
    answer = api("createAnnotation", body, id=watched.pk)
    assert (answer.status_code, answer.json()["code"]) == (422, "bad-annotation")
    assert answer.json()["errors"][0]["where"] == where
    assert not Event.objects.filter(kind="annotation.created").exists()
