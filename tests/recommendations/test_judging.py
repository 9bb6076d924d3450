"""Judging a watched server from what is stored: the window, the configuration, what was left behind."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from kombu.exceptions import OperationalError

from advisor.engine import evaluation
from advisor.engine.outcome import Severity
from advisor.engine.scene import scene
from advisor.engine.units import GIB, MIB
from advisor.recommendations import judging, tasks
from advisor.recommendations.models import FleetRow, Judgement, Recommendation, State
from collector import servers, snapshots
from collector.models import ServerState, StoredSnapshot
from collector.signals import poll_stored, snapshot_stored
from collector.store import store

SMALL = {"innodb_log_file_size": 8 * MIB, "innodb_log_buffer_size": 4 * MIB}
RULE = "redo.redo-log-undersized"


def record(
    server: Any,
    *,
    at: float,
    variables: dict[str, object] | None = None,
    seconds: int = 120,
    identity: str = "example",
) -> int:
    """Stores what two loaded minutes at the limit leave behind, ending at ``at``; answers the snapshot's slot."""
    seen = scene("mariadb 10.11.18", variables or SMALL, redo_per_second=2 * MIB, pressure=[1.0, 0.97], seconds=seconds)
    polls = [seen.intervals[0].previous, *(one.current for one in seen.intervals)]
    shift = at - polls[-1].at
    for one in polls:
        moved = replace(
            one,
            at=one.at + shift,
            server_clock=one.server_clock + shift,
            uptime_seconds=int(one.at + shift),
            identity=identity,
        )
        store().append(server.pk, int(moved.at), moved)
    snapshot = replace(seen.snapshot, taken_at=at, server_clock=at, uptime_seconds=int(at))
    ServerState.objects.filter(server=server).update(last_snapshot_at=datetime.fromtimestamp(at, UTC))
    StoredSnapshot.objects.create(
        server=server, slot=int(at), taken_at=datetime.fromtimestamp(at, UTC), payload=snapshots.pack(snapshot)
    )
    return int(at)


@pytest.fixture
def now() -> int:
    return int(time.time())


def first(server: Any, at: float) -> None:
    """A first judgement, so that the configuration is known from then on."""
    record(server, at=at, seconds=10)
    judging.judge_server(server_id=server.pk)


def test_harm_in_the_window_opens_a_recommendation_with_statements(watched: Any, now: int) -> None:
    first(watched, now - 200)
    record(watched, at=now)
    judging.judge_server(server_id=watched.pk)
    row = Recommendation.objects.get(rule=RULE)
    assert (row.state, row.confidence) == (State.OPEN, "low")
    assert row.document["sql"]
    assert row.document["undo"]
    fleet_row = FleetRow.objects.get(server=watched)
    assert fleet_row.worst_id == row.pk or fleet_row.open_recommendations > 1
    assert "10.11.18" in fleet_row.version


def test_what_was_seen_before_a_change_of_the_configuration_is_not_judged(watched: Any, now: int) -> None:
    first(watched, now - 400)
    record(watched, at=now - 200)
    judging.judge_server(server_id=watched.pk)
    before = Judgement.objects.get(server=watched)
    record(watched, at=now, variables={**SMALL, "innodb_io_capacity": 5000}, seconds=10)
    judging.judge_server(server_id=watched.pk)
    after = Judgement.objects.get(server=watched)
    assert before.configured_at == now - 400
    assert after.configured_at == now
    said = {one["rule"]: one["outcome"] for one in after.outcomes}
    assert said[RULE] == "not_evaluated"
    assert Recommendation.objects.get(rule=RULE).state == State.OPEN, "not evaluated resolves nothing"


def test_the_redo_capacity_itself_ends_no_window_of_other_rules() -> None:
    small = scene("mariadb 10.11.18", SMALL).snapshot
    large = scene("mariadb 10.11.18", {**SMALL, "innodb_log_file_size": GIB}).snapshot
    other = scene("mariadb 10.11.18", {**SMALL, "innodb_io_capacity": 5000}).snapshot
    assert judging.configuration_of(small) == judging.configuration_of(large)
    assert judging.configuration_of(small) != judging.configuration_of(other)


def test_judging_a_server_without_a_snapshot_or_without_the_server_is_harmless(watched: Any) -> None:
    assert judging.judge_server(server_id=watched.pk) is None
    assert judging.judge_server(server_id="gone") is None


def test_a_snapshot_that_nobody_judged_is_judged_by_housekeeping(watched: Any, now: int) -> None:
    record(watched, at=now - 60)
    assert judging.left_behind() == [watched.pk]
    tasks.housekeeping()
    assert Judgement.objects.get().slot == now - 60
    assert judging.left_behind() == []


def test_without_a_broker_the_snapshot_is_kept_and_waits(
    watched: Any, now: int, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(**kwargs: Any) -> None:
        raise OperationalError("no broker")

    monkeypatch.setattr(tasks.judge, "apply_async", refuse)
    slot = record(watched, at=now - 60)
    snapshot_stored.send(sender=None, server_id=watched.pk, slot=slot)
    assert "waits for housekeeping" in caplog.text
    assert judging.left_behind() == [watched.pk]


def test_a_stored_snapshot_queues_its_server_by_id_only(watched: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[dict[str, Any]] = []
    monkeypatch.setattr(tasks.judge, "apply_async", lambda **kwargs: sent.append(kwargs))
    snapshot_stored.send(sender=None, server_id=watched.pk, slot=1)
    assert [one["kwargs"] for one in sent] == [{"server_id": watched.pk, "early": False}]
    assert sent[0]["queue"] == "judge"


def test_a_young_window_is_judged_again_with_the_polls_since_the_snapshot(
    watched: Any, now: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[dict[str, Any]] = []
    monkeypatch.setattr(tasks.judge, "apply_async", lambda **kwargs: sent.append(kwargs["kwargs"]))
    monkeypatch.setattr("advisor.recommendations.fleet._written", {})
    first(watched, now - 80)
    assert Recommendation.objects.filter(rule=RULE).count() == 0
    Judgement.objects.update(judged_at=datetime.fromtimestamp(now - 60, UTC))
    StoredSnapshot.objects.all().delete()
    record(watched, at=now - 1, seconds=70)
    StoredSnapshot.objects.update(slot=now - 80)
    poll_stored.send(sender=None, server_id=watched.pk, slot=now)
    assert sent == [{"server_id": watched.pk, "early": True}]
    tasks.judge(**sent[0])
    assert Recommendation.objects.get(rule=RULE).state == State.OPEN


def test_one_server_that_cannot_be_judged_keeps_no_other_from_it(
    watched: Any, team: Any, now: int, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from ..conftest import build_server

    other = build_server(team, "other")
    for server in (watched, other):
        record(server, at=now - 60)
    real = judging.judge_server

    def judge_server(*, server_id: str, early: bool = False) -> Any:
        if server_id == watched.pk:
            raise RuntimeError("broken")
        return real(server_id=server_id, early=early)

    monkeypatch.setattr(judging, "judge_server", judge_server)
    assert judging.judge_left_behind() == 2
    assert list(Judgement.objects.values_list("server_id", flat=True)) == [other.pk]
    assert "could not be judged" in caplog.text


def test_a_poll_of_another_redo_capacity_than_the_snapshot_waits_for_the_next_snapshot(watched: Any, now: int) -> None:
    """Else the advice would speak of a value that is no longer there, and its undo would restore it."""
    first(watched, now - 80)
    slot = now - 80
    StoredSnapshot.objects.all().delete()
    record(watched, at=now - 1, seconds=70)
    large = scene("mariadb 10.11.18", {**SMALL, "innodb_log_file_size": GIB}).snapshot
    StoredSnapshot.objects.update(slot=slot, payload=snapshots.pack(replace(large, taken_at=slot)))
    assert judging.judge_server(server_id=watched.pk, early=True) is None
    assert judging.judge_server(server_id=watched.pk) is not None


def test_a_server_that_is_deleted_while_it_is_judged_is_forgotten(
    watched: Any, now: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    record(watched, at=now)
    real = judging.observe

    def observe_and_lose(*arguments: Any, **options: Any) -> Any:
        seen = real(*arguments, **options)
        servers.delete_server(server=watched)
        return seen

    monkeypatch.setattr(judging, "observe", observe_and_lose)
    assert judging.judge_server(server_id=watched.pk) is None
    assert not Judgement.objects.exists()


def test_what_another_server_did_behind_the_same_address_is_not_judged(watched: Any, now: int) -> None:
    first(watched, now - 200)
    record(watched, at=now, identity="the one before")
    judging.judge_server(server_id=watched.pk)
    assert not Recommendation.objects.filter(rule=RULE).exists()


def test_the_window_holds_two_polls_more_than_an_hour_and_the_instant_of_the_last_change(
    watched: Any, now: int
) -> None:
    slot = record(watched, at=now, seconds=3700)
    snapshot = scene("mariadb 10.11.18", SMALL).snapshot
    seen = judging.observe(watched, snapshot, slot, since=slot - 5000.0)
    assert sum(one.seconds for one in seen.intervals) == 3620
    assert seen.configured_at == slot - 5000
    recent = judging.observe(watched, snapshot, slot, since=slot - 100.0)
    assert sum(one.seconds for one in recent.intervals) == 100


def test_a_severity_that_is_open_is_known_when_the_server_is_judged_again(
    watched: Any, now: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    first(watched, now - 200)
    record(watched, at=now - 100)
    judging.judge_server(server_id=watched.pk)
    real, held = evaluation.judge, []

    def judge(*arguments: Any, **options: Any) -> Any:
        held.append(options["holding"])
        return real(*arguments, **options)

    monkeypatch.setattr(judging, "judge", judge)
    record(watched, at=now)
    judging.judge_server(server_id=watched.pk)
    assert held[0][RULE] is Severity.WARNING
