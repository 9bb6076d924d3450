"""A real server, read as a worker reads it: what is set is an event, and counters that nobody polls are charted."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from advisor.journal.models import Event
from advisor.mysql.snapshot import Snapshot
from collector import results, schedule, settings_history
from collector.collect import read_snapshot
from collector.connection import Connection, connect
from collector.models import Server, ServerState
from collector.numbers import numbers
from collector.servers import target_of
from collector.store import store
from tests.conftest import build_server
from tests.servers import DISTRIBUTION_SERVER, RunningServer, start_server

pytestmark = pytest.mark.django_db

SPACING = 2


@pytest.fixture(scope="module")
def target() -> Iterator[RunningServer]:
    """One of its own, since it is set and restarted."""
    with start_server(DISTRIBUTION_SERVER) as server:
        yield server


def _collect(server: Server, connection: Connection, slot: int, previous: Snapshot | None) -> Snapshot:
    """One full collection as the holder of the server's shard makes it."""
    lease = schedule.claim(server.shard_id)
    assert lease is not None
    ServerState.objects.filter(server=server).update(full_slot=slot)
    snapshot = read_snapshot(connection)
    results.record_snapshot(
        lease=lease,
        server=server,
        due=slot,
        slot=slot,
        snapshot=snapshot,
        previous=previous,
        now=time.time(),
        cost={},
    )
    lease.release()
    return snapshot


def test_what_is_set_is_one_event_and_every_counter_is_charted(team: Any, target: RunningServer) -> None:
    server = build_server(team, "live", port=target.port, user=target.user, password=target.password)
    target.sql("SET GLOBAL innodb_io_capacity = 210")
    target.sql("CREATE DATABASE IF NOT EXISTS history")
    target.sql("CREATE TABLE IF NOT EXISTS history.t (a INT PRIMARY KEY)")
    found: list[Snapshot] = []
    slots = []
    with connect(target_of(server)) as connection:
        for step in range(6):
            slot = int(time.time())
            found.append(_collect(server, connection, slot, found[-1] if found else None))
            slots.append(slot)
            for value in range(20 * step, 20 * step + 20):
                target.sql(f"REPLACE INTO history.t VALUES ({value})")
            target.sql("SELECT COUNT(*) FROM history.t")
            if step == 2:
                target.sql("SET GLOBAL innodb_io_capacity = 410")
                target.sql("SET GLOBAL innodb_max_dirty_pages_pct_lwm = 0.0")
                target.sql("FLUSH STATUS")
            time.sleep(max(0.0, slot + SPACING - time.time()))

    # The server wrote, flushed and was watched all the while: nothing but what was set is told.
    told = Event.objects.filter(server_id=server.pk).exclude(kind="server.added").values_list("kind", "data")
    assert list(told) == [
        (
            "server.variable_changed",
            {"name": "innodb_io_capacity", "old": "210", "new": "410", "source": "foreign"},
        )
    ]
    (change,) = settings_history.changes(server.pk, slots[0], slots[-1] + 1)
    assert (change.at, change.name, change.old, change.new) == (slots[3], "innodb_io_capacity", "210", "410")
    for slot, snapshot in zip(slots, found, strict=True):
        known = settings_history.variables_at(server.pk, slot)
        assert known is not None
        assert known["innodb_io_capacity"] == snapshot.variables["innodb_io_capacity"]

    names = {one.name: one for one in store().counter_names(server.pk)}
    assert len(names) > 500
    assert names["Handler_read_rnd_next"].kind == "counter"
    assert names["Innodb_mem_dictionary"].kind == "gauge"
    read = store().readings(server.pk, slots[0], slots[-1] + 1)
    assert read.at.tolist() == slots
    assert read.restarts == ()
    for name, number in numbers(found[-1].status).items():
        assert read.values[name][-1] == float(number), name
    handled = [int(one.status["Handler_read_rnd_next"]) for one in found]
    assert handled[-1] > handled[0]
    charted = store().buckets(server.pk, ["Handler_read_rnd_next"], slots[0], slots[-1] + 1, 300)
    seconds = np.array([after.server_clock - before.server_clock for before, after in pairwise(found)])
    assert charted.series["Handler_read_rnd_next"].last[1:] == pytest.approx(np.diff(handled) / seconds)


def test_a_resized_redo_log_is_a_change_and_a_restart_tells_its_changes_together(
    team: Any, target: RunningServer
) -> None:
    server = build_server(team, "restarted", port=target.port, user=target.user, password=target.password)
    target.sql("SET GLOBAL innodb_io_capacity = 300")
    target.sql("SET GLOBAL sync_binlog = 7")
    with connect(target_of(server)) as connection:
        before = int(time.time())
        first = _collect(server, connection, before, None)
        target.sql("SET GLOBAL innodb_log_file_size = 64 * 1024 * 1024")
        resized = max(int(time.time()), before + 1)
        first = _collect(server, connection, resized, first)
    ((kind, data),) = Event.objects.filter(server_id=server.pk).exclude(kind="server.added").values_list("kind", "data")
    assert (kind, data["name"], data["new"]) == ("server.variable_changed", "innodb_log_file_size", "67108864")
    target.restart()
    with connect(target_of(server)) as connection:
        after = max(int(time.time()), resized + 1)
        _collect(server, connection, after, first)
    assert [event.kind for event in Event.objects.filter(server_id=server.pk, kind__startswith="server.variable")] == [
        "server.variables_changed",
        "server.variable_changed",
    ]
    data = Event.objects.get(server_id=server.pk, kind="server.variables_changed").data
    assert data["changes"]["innodb_io_capacity"] == ["300", "200"]
    assert data["changes"]["sync_binlog"] == ["7", "0"]
    assert data["source"] == "foreign"
    read = store().readings(server.pk, before, after + 1, ["Questions"])
    assert read.restarts == (float(after),)
    assert np.isnan(read.seconds[-1]), "a rate went across the restart"
