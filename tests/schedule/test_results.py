"""What a reading leaves behind is written once, by who holds the lease, and all of it or nothing."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import pytest

from advisor.journal.models import Event
from advisor.mysql.snapshot import Identity, Poll, Snapshot
from advisor.mysql.version import identify
from collector import results, schedule, snapshots
from collector.models import Gap, OpenSample, Server, ServerState, Shard, StoredSnapshot
from collector.results import SlotTaken
from collector.schedule import AT_ONCE, Lease, LeaseLost, next_slot
from collector.store import store

pytestmark = pytest.mark.django_db

INTERVAL = 10


@pytest.fixture
def lease(watched: Server) -> Lease:
    claimed = schedule.claim(watched.shard_id)
    assert claimed is not None
    return claimed


@pytest.fixture
def slot(watched: Server) -> int:
    """A slot that is due."""
    due = next_slot(watched.pk, INTERVAL, time.time())
    ServerState.objects.filter(server=watched).update(fast_slot=due, full_slot=due)
    return due


def _poll(slot: int, uptime: int = 5000, **values: int) -> Poll:
    return Poll(float(slot), slot + 0.2, uptime, {"Questions": 7, **values}, "server")


def _state(server: Server) -> ServerState:
    return ServerState.objects.get(server=server)


def _record(lease: Lease, server: Server, slot: int, poll: Poll | None = None, **more: Any) -> ServerState:
    arguments: dict[str, Any] = {"due": slot, "previous": None, "now": slot + 0.3, "cost": {}, **more}
    return results.record_poll(lease=lease, server=server, slot=slot, poll=poll or _poll(slot), **arguments)


def _fail(lease: Lease, server: Server, slot: int, **more: Any) -> ServerState:
    said: dict[str, Any] = {"kind": "refused", "sentence": "Nothing listens.", "next_step": "Start it.", **more}
    return results.record_failure(lease=lease, server=server, due=slot, slot=slot, now=slot + 1.0, **said)


def _snapshot(**variables: str) -> Snapshot:
    return Snapshot(
        taken_at=1e9,
        server_clock=1e9,
        uptime_seconds=5,
        identity=Identity("uuid-1", "h", 3306, identify(variables.pop("version", "10.11.6-MariaDB"), "")),
        variables={"innodb_io_capacity": "200", **variables},
        status={"Uptime": "5"},
    )


def _kinds(server: Server) -> list[str]:
    return list(
        Event.objects.filter(server_id=server.pk)
        .exclude(kind="server.added")
        .order_by("pk")
        .values_list("kind", flat=True)
    )


def test_a_poll_makes_the_next_slot_due(lease: Lease, watched: Server, slot: int) -> None:
    state = _record(lease, watched, slot, cost={"statements": 1})
    assert state.fast_slot == slot + INTERVAL
    assert _state(watched).cost["poll"] == {"statements": 1, "late_seconds": 0.3}
    assert store().latest(watched.pk) == _poll(slot)


def test_a_slot_that_was_dealt_with_is_not_written_again(lease: Lease, watched: Server, slot: int) -> None:
    _record(lease, watched, slot)
    with pytest.raises(SlotTaken):
        _record(lease, watched, slot, _poll(slot, Questions=99))
    with pytest.raises(SlotTaken):
        _fail(lease, watched, slot)
    with pytest.raises(SlotTaken):
        results.record_missed(lease=lease, server=watched, due=slot, following=slot + 20, why="late")
    assert store().latest(watched.pk) == _poll(slot)
    assert _state(watched).failures == 0


def test_who_lost_the_lease_writes_nothing_at_all(lease: Lease, watched: Server, slot: int) -> None:
    Shard.objects.update(term=lease.term + 1)
    for write in (
        lambda: _record(lease, watched, slot),
        lambda: _fail(lease, watched, slot),
        lambda: results.record_missed(lease=lease, server=watched, due=slot, following=slot + 10, why="late"),
        lambda: results.record_snapshot(
            lease=lease, server=watched, due=slot, slot=slot, snapshot=_snapshot(), previous=None, now=1e9, cost={}
        ),
    ):
        with pytest.raises(LeaseLost):
            write()
    assert _state(watched).fast_slot == slot
    assert not OpenSample.objects.exists()
    assert not Gap.objects.exists()
    assert not StoredSnapshot.objects.exists()
    assert _kinds(watched) == []


def test_a_poll_that_cannot_be_stored_leaves_its_slot_due(
    lease: Lease, watched: Server, slot: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError("the journal is full")

    monkeypatch.setattr(results, "_tell", fail)
    previous = _poll(slot - INTERVAL, uptime=900_000)
    with pytest.raises(OSError, match="full"):
        _record(lease, watched, slot, previous=previous)
    assert _state(watched).fast_slot == slot
    assert not OpenSample.objects.exists()


def test_failures_pause_longer_each_time_within_one_gap_and_recovery_ends_both(
    lease: Lease, watched: Server, slot: int
) -> None:
    due, pauses = slot, []
    for number in range(6):
        state = _fail(lease, watched, due, sentence=f"Nothing listens ({number}).")
        pauses.append((state.fast_slot - due) // INTERVAL)
        due = state.fast_slot
    assert pauses == [1, 2, 4, 8, 15, 15]
    state = _state(watched)
    assert (state.failures, state.error_kind, state.error) == (6, "refused", "Nothing listens (5). Start it.")
    assert state.retry_at == due
    assert [(gap.started_at, gap.ended_at) for gap in Gap.objects.all()] == [(slot, None)]
    _fail(lease, watched, due, kind="wrong-password", sentence="No.")
    second, due = due, _state(watched).fast_slot
    _record(lease, watched, due)
    state = _state(watched)
    assert (state.failures, state.error_kind, state.error, state.error_since, state.retry_at) == (0, "", "", None, 0)
    assert [(gap.started_at, gap.ended_at, gap.why) for gap in Gap.objects.order_by("pk")] == [
        (slot, second, "Nothing listens (0)."),
        (second, due, "No."),
    ]
    assert _kinds(watched) == ["server.unreadable", "server.unreadable", "server.recovered"]


def test_a_restart_between_two_polls_is_told_is_a_gap_and_reads_the_options_again(
    lease: Lease, watched: Server, slot: int
) -> None:
    ServerState.objects.filter(server=watched).update(full_slot=slot + 50)
    state = _record(lease, watched, slot, _poll(slot, uptime=3), previous=_poll(slot - INTERVAL))
    assert state.full_slot == AT_ONCE
    assert _kinds(watched) == ["server.restarted"]
    ((started_at, ended_at, why),) = Gap.objects.values_list("started_at", "ended_at", "why")
    assert (started_at, ended_at) == (slot - INTERVAL, slot)
    assert "restarted" in why


def test_missed_slots_in_a_row_are_one_gap(lease: Lease, watched: Server, slot: int) -> None:
    results.record_missed(lease=lease, server=watched, due=slot, following=slot + 20, why="No worker.")
    results.record_missed(lease=lease, server=watched, due=slot + 20, following=slot + 50, why="No worker.")
    assert [(gap.started_at, gap.ended_at, gap.why) for gap in Gap.objects.all()] == [(slot, slot + 50, "No worker.")]
    assert _state(watched).fast_slot == slot + 50


def test_a_reading_at_once_keeps_its_distance_from_the_next_slot(lease: Lease, watched: Server) -> None:
    for now in range(1_800_000_000, 1_800_000_010):
        ServerState.objects.filter(server=watched).update(fast_slot=AT_ONCE)
        state = _record(lease, watched, now, due=AT_ONCE)
        assert INTERVAL // 2 < state.fast_slot - now <= INTERVAL + INTERVAL // 2


def test_a_time_in_which_nothing_was_due_is_a_gap_too(lease: Lease, watched: Server) -> None:
    ServerState.objects.filter(server=watched).update(fast_slot=AT_ONCE)
    later = 1_800_003_600
    _record(lease, watched, later, _poll(later, uptime=8600), due=AT_ONCE, previous=_poll(later - 3600))
    assert [(gap.started_at, gap.ended_at, gap.why) for gap in Gap.objects.all()] == [
        (later - 3600, later, "It was not watched.")
    ]


def test_a_snapshot_is_stored_once_and_reads_back_equal(lease: Lease, watched: Server, slot: int) -> None:
    def write(due: int) -> tuple[ServerState, bool]:
        return results.record_snapshot(
            lease=lease,
            server=watched,
            due=due,
            slot=slot,
            snapshot=_snapshot(),
            previous=None,
            now=slot + 1.0,
            cost={},
        )

    state, new = write(slot)
    assert new
    assert state.full_slot == next_slot(watched.pk, watched.full_interval_seconds, slot)
    assert (state.identity["flavor"], state.identity["fingerprint"]) == ("mariadb", "uuid-1")
    assert snapshots.latest_with_slot(watched.pk) == (slot, _snapshot())
    with pytest.raises(SlotTaken):
        write(slot)
    assert not write(state.full_slot)[1], "the same slot counted as new"
    assert StoredSnapshot.objects.count() == 1


@pytest.mark.parametrize(
    ("change", "kind", "data"),
    [
        (
            {"innodb_io_capacity": "400", "gtid_binlog_pos": "0-1-2"},
            "server.variable_changed",
            {"name": "innodb_io_capacity", "old": "200", "new": "400", "source": "foreign"},
        ),
        (
            {"innodb_io_capacity": "400", "innodb_lru_scan_depth": "256"},
            "server.variables_changed",
            {
                "changes": {"innodb_io_capacity": ["200", "400"], "innodb_lru_scan_depth": [None, "256"]},
                "count": 2,
                "source": "foreign",
            },
        ),
        (
            {"version": "10.11.7-MariaDB", "innodb_io_capacity": "400"},
            "server.version_changed",
            {
                "old": "10.11.6-MariaDB",
                "new": "10.11.7-MariaDB",
                "changes": {"innodb_io_capacity": ["200", "400"]},
                "count": 1,
                "source": "foreign",
            },
        ),
    ],
)
def test_what_changed_is_one_event(
    lease: Lease, watched: Server, slot: int, change: dict[str, str], kind: str, data: dict[str, Any]
) -> None:
    results.record_snapshot(
        lease=lease,
        server=watched,
        due=slot,
        slot=slot,
        snapshot=_snapshot(**change),
        previous=_snapshot(),
        now=slot + 1.0,
        cost={},
    )
    ((found, told),) = Event.objects.exclude(kind="server.added").values_list("kind", "data")
    assert (found, told) == (kind, data)


def test_another_server_behind_the_address_is_told_as_that(lease: Lease, watched: Server, slot: int) -> None:
    other = _snapshot(innodb_io_capacity="9")
    other = replace(other, identity=replace(other.identity, unique_id="uuid-2"))
    results.record_snapshot(
        lease=lease, server=watched, due=slot, slot=slot, snapshot=other, previous=_snapshot(), now=1e9, cost={}
    )
    assert _kinds(watched) == ["server.replaced"]
