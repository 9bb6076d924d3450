"""Events stand or fall with what they tell of."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import transaction

from advisor.journal.models import Event
from advisor.journal.services import record
from advisor.recommendations import services
from advisor.recommendations.models import Recommendation

from ..recommendations.building import Judging, found

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


def test_an_event_has_its_team_subject_kind_and_named_values(team: Any, owner: Any) -> None:
    record(team_id=team.pk, kind="server.paused", at=NOW, server_id="abc", actor=owner, data={"name": "alpha"})
    event = Event.objects.get()
    assert (event.team, event.server_id, event.actor, event.data) == (team, "abc", owner, {"name": "alpha"})


def test_an_event_of_something_that_was_taken_back_is_taken_back_with_it(team: Any) -> None:
    @transaction.atomic
    def fail() -> None:
        record(team_id=team.pk, kind="server.paused", at=NOW)
        raise RuntimeError("what it tells of failed")

    with pytest.raises(RuntimeError):
        fail()
    assert not Event.objects.exists()


def test_what_cannot_be_journaled_does_not_happen(watched: Any, owner: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    judge = Judging(watched)
    judge(found())

    def refuse(**kwargs: Any) -> None:
        raise RuntimeError("the journal is full")

    monkeypatch.setattr(services, "record", refuse)
    with pytest.raises(RuntimeError):
        services.acknowledge(recommendation=Recommendation.objects.get(), actor=owner, now=judge.now)
    assert Recommendation.objects.get().state == "open"


def test_events_outlive_their_server_and_come_newest_first(watched: Any) -> None:
    from collector import servers

    Judging(watched)(found())
    servers.delete_server(server=watched)
    kinds = list(Event.objects.filter(server_id=watched.pk).values_list("kind", flat=True))
    assert kinds[0] == "server.deleted"
    assert "server.added" in kinds
