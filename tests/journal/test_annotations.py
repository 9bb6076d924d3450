"""Annotations: written once whoever repeats them, checked, and taken back without a trace of what they said."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from advisor.journal import annotations as annotating
from advisor.journal.annotations import BadAnnotation, KeyTaken, create_annotation, delete_annotation
from advisor.journal.models import Event

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


def _write(team: Any, owner: Any, **values: Any) -> tuple[Event, bool]:
    given = {"server_id": "abc", "text": "deploy v481", "actor": owner, "now": NOW, **values}
    return create_annotation(team_id=team.pk, **given)


def test_an_annotation_is_an_event_with_its_actor_text_and_tags(team: Any, owner: Any) -> None:
    made, new = _write(team, owner, text="  deploy v481 ", tags=["Deploy", "deploy", " "])
    assert new
    made.refresh_from_db()
    assert (made.kind, made.at, made.actor, made.server_id) == ("annotation.created", NOW, owner, "abc")
    assert made.data == {"text": "deploy v481", "tags": ["deploy"]}


def test_the_same_annotation_by_the_same_key_is_written_once(team: Any, owner: Any) -> None:
    first, new = _write(team, owner, key="v481")
    again, repeated = _write(team, owner, key="v481", now=NOW + timedelta(seconds=9))
    assert (new, repeated) == (True, False)
    assert again.pk == first.pk
    assert Event.objects.count() == 1


def test_two_annotations_without_a_key_are_two(team: Any, owner: Any) -> None:
    _write(team, owner)
    _write(team, owner)
    assert Event.objects.count() == 2


def test_a_key_that_stands_for_something_else_is_refused(team: Any, other_team: Any, owner: Any) -> None:
    _write(team, owner, key="v481")
    with pytest.raises(KeyTaken):
        _write(team, owner, key="v481", text="another deploy")
    with pytest.raises(KeyTaken):
        _write(team, owner, key="v481", server_id="def")
    assert _write(other_team, owner, key="v481")[1], "the keys of one team are none of another's business"


def test_of_two_requests_at_once_one_is_written_and_both_are_answered(
    team: Any, owner: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, _ = _write(team, owner, key="v481")
    real, asked = annotating._known, []

    def blind_at_first(*args: Any) -> Event | None:
        asked.append(args)
        return None if len(asked) == 1 else real(*args)

    monkeypatch.setattr(annotating, "_known", blind_at_first)
    again, new = _write(team, owner, key="v481")
    assert (again.pk, new) == (first.pk, False)


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"text": "   "}, "text"),
        ({"text": "x" * 1001}, "text"),
        ({"at": NOW + timedelta(days=2)}, "at"),
        ({"ended_at": NOW - timedelta(seconds=1)}, "ended_at"),
        ({"tags": [str(number) for number in range(11)]}, "tags"),
        ({"tags": ["x" * 41]}, "tags"),
        ({"key": ""}, "key"),
        ({"key": "x" * 101}, "key"),
    ],
)
def test_what_cannot_be_kept_is_named(team: Any, owner: Any, values: dict[str, Any], field: str) -> None:
    with pytest.raises(BadAnnotation) as refused:
        _write(team, owner, **values)
    assert refused.value.field == field
    assert not Event.objects.exists()


def test_what_a_deleted_annotation_said_is_gone_and_who_deleted_it_stays(team: Any, owner: Any) -> None:
    made, _ = _write(team, owner, text="the password is hunter2")
    delete_annotation(annotation=made, actor=owner, now=NOW)
    left = Event.objects.get()
    assert (left.kind, left.actor, left.server_id) == ("annotation.deleted", owner, "abc")
    assert "hunter2" not in str(left.data)
