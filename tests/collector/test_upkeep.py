"""What Tidemark notes of itself: parts at work, lateness, the database's growth, the queues."""

from __future__ import annotations

from typing import Any

import pytest

from advisor.celery import app
from collector import tasks, upkeep
from collector.models import Heartbeat, ServerState, UpkeepSample

pytestmark = pytest.mark.django_db

HOUR = 3600


def test_a_part_is_noted_once_in_a_while_and_never_stays_in_the_future() -> None:
    upkeep.note_alive("tick", 1000.0)
    upkeep.note_alive("tick", 1005.0)
    assert upkeep.last_seen() == {"tick": 1000.0}
    upkeep.note_alive("tick", 1030.0)
    assert upkeep.last_seen() == {"tick": 1030.0}
    upkeep.note_alive("tick", 500.0)
    assert upkeep.last_seen() == {"tick": 500.0}


def test_a_tick_and_a_round_of_housekeeping_are_seen() -> None:
    tasks.tick()
    tasks.housekeeping()
    assert set(upkeep.last_seen()) == {"tick", "housekeeping"}
    assert UpkeepSample.objects.count() == 1


def test_each_hour_is_noted_once_with_the_size_and_the_lateness(watched: Any) -> None:
    ServerState.objects.update_or_create(server=watched, defaults={"cost": {"poll": {"late_seconds": 0.7}}})
    assert upkeep.keep_record(10 * HOUR + 5.0)
    assert not upkeep.keep_record(10 * HOUR + 900.0)
    sample = UpkeepSample.objects.get()
    assert (sample.hour_at, sample.servers) == (10 * HOUR, 1)
    assert (sample.late_p50_seconds, sample.late_p99_seconds) == (0.7, 0.7)
    assert sample.database_bytes is not None
    assert sample.database_bytes > 100_000
    assert upkeep.keep_record(401 * 86_400 + 10 * HOUR)
    assert UpkeepSample.objects.count() == 1


def test_servers_that_do_not_answer_say_nothing_of_our_lateness(watched: Any) -> None:
    ServerState.objects.update_or_create(
        server=watched, defaults={"cost": {"poll": {"late_seconds": 60.0}}, "failures": 3}
    )
    assert upkeep.lateness() == []
    assert upkeep.quantile([], 0.5) is None


@pytest.mark.parametrize(("share", "value"), [(0.5, 50), (0.99, 99), (1.0, 100), (0.0, 1)])
def test_a_quantile_is_one_of_the_values(share: float, value: int) -> None:
    assert upkeep.quantile(list(range(100, 0, -1)), share) == value


def test_growth_is_told_by_the_day_and_never_below_zero() -> None:
    def sample(hour: int, size: int | None) -> UpkeepSample:
        return UpkeepSample(hour_at=hour * HOUR, database_bytes=size)

    grown = upkeep.growth([sample(0, 1000), sample(3, None), sample(12, 2500)])
    assert grown == upkeep.Growth(3000.0, 12 * HOUR)
    assert upkeep.growth([sample(0, 1000)]) is None
    shrunk = upkeep.growth([sample(0, 1000), sample(12, 10)])
    assert shrunk is not None
    assert shrunk.bytes_per_day == 0


def test_a_broker_that_is_not_there_is_said_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app.conf, "broker_url", "redis://127.0.0.1:1/0")
    assert upkeep.queue_depths(0.5) is None


def test_an_unreachable_database_note_does_not_stop_the_tick(monkeypatch: pytest.MonkeyPatch) -> None:
    from django.db import DatabaseError

    def fails(*_: Any, **__: Any) -> None:
        raise DatabaseError("away")

    monkeypatch.setattr(Heartbeat.objects, "filter", fails)
    assert tasks.tick() == 0
