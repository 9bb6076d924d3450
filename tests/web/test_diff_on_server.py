"""Before and after on a real server: the experiment of a missing index, told by the product's own snapshots.

The same look-ups once without an index and once with it, a restart and a changed setting in between. The quick run
takes windows of some seconds, too short to judge, of which the order has to be right all the same; the longer one is
judged.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from collector import results, schedule
from collector.collect import read_snapshot
from collector.connection import connect
from collector.models import Server, ServerState
from collector.servers import target_of
from tests.conftest import build_server
from tests.servers import DISTRIBUTION_SERVER, RunningServer, start_server

pytestmark = pytest.mark.django_db

ROWS = 4000


@pytest.fixture
def target() -> Iterator[RunningServer]:
    """One of its own, since it is set and restarted."""
    with start_server(DISTRIBUTION_SERVER) as server:
        server.sql("CREATE DATABASE diff")
        server.sql("CREATE TABLE diff.t (id INT PRIMARY KEY, k INT NOT NULL, pad CHAR(40) NOT NULL)")
        rows = ",".join(f"({number},{number % 400},'x')" for number in range(ROWS))
        server.sql(f"INSERT INTO diff.t VALUES {rows}")
        yield server


def _work(target: RunningServer, until: threading.Event) -> None:
    """Transactions of two look-ups and an update each, at most some hundred a second."""
    connection = target.connect()
    try:
        cursor, turn = connection.cursor(), 0
        while not until.is_set():
            turn += 1
            cursor.execute("BEGIN")
            for key in (turn % 400, turn * 7 % 400):
                cursor.execute(f"SELECT SQL_NO_CACHE COUNT(*) FROM diff.t WHERE k = {key}")
                cursor.fetchall()
            cursor.execute(f"UPDATE diff.t SET pad = '{turn}' WHERE id = {turn % ROWS}")
            cursor.execute("COMMIT")
            until.wait(0.004)
    finally:
        connection.close()


def _watched_load(server: Server, target: RunningServer, *, seconds: int, spacing: int) -> tuple[int, int]:
    """The load with a full collection every ``spacing`` seconds; the first and the last slot."""
    ended = threading.Event()
    worker = threading.Thread(target=_work, args=(target, ended), daemon=True)
    worker.start()
    slots: list[int] = []
    try:
        time.sleep(0.5)
        with connect(target_of(server)) as connection:
            for _ in range(seconds // spacing + 1):
                slot = int(time.time())
                lease = schedule.claim(server.shard_id)
                assert lease is not None
                ServerState.objects.filter(server=server).update(full_slot=slot)
                results.record_snapshot(
                    lease=lease, server=server, due=slot, slot=slot, snapshot=read_snapshot(connection), previous=None,
                    now=time.time(), cost={},
                )  # fmt: skip
                lease.release()
                slots.append(slot)
                time.sleep(max(0.0, slot + spacing - time.time()))
    finally:
        ended.set()
        worker.join(30)
    return slots[0], slots[-1]


@pytest.mark.parametrize(
    ("seconds", "spacing", "judged"),
    [pytest.param(5, 1, False, id="seconds"), pytest.param(110, 5, True, id="minutes", marks=pytest.mark.ci)],
)
def test_a_missing_index_a_restart_and_a_setting_are_told(
    team: Any,
    viewer: Any,
    sign_in: Callable[[Any], Client],
    target: RunningServer,
    seconds: int,
    spacing: int,
    judged: bool,
) -> None:
    server = build_server(team, "live", port=target.port, user=target.user, password=target.password)
    before = _watched_load(server, target, seconds=seconds, spacing=spacing)
    target.restart()
    target.sql("SET GLOBAL innodb_io_capacity = 777")
    target.sql("CREATE INDEX k ON diff.t (k)")
    after = _watched_load(server, target, seconds=seconds, spacing=spacing)
    query = "&".join(
        f"{name}={at * 1000}" for name, at in zip(("a_from", "a_to", "b_from", "b_to"), (*before, *after), strict=True)
    )
    client = sign_in(viewer)
    found = client.get(reverse("server-diff-export", args=[server.pk, "json"]) + f"?{query}").json()["comparison"]

    assert found["judged"] is judged
    assert found["work"]["kind"] == "transactions"
    names = [one["name"] for one in found["changes"]]
    # What stands at the top is the scan that went away, and what the server counts of the same rows under other names.
    scans = next(one for one in found["changes"] if one["name"] == "Handler_read_rnd_next")
    assert names.index("Handler_read_rnd_next") < 6, names[:10]
    assert scans["per_work"]["before"] == pytest.approx(2 * (ROWS + 1), rel=0.1)
    assert scans["per_work"]["after"] < 0.1 * scans["per_work"]["before"]
    found_by_index = next(one for one in found["changes"] if one["name"] == "Handler_read_next")
    assert found_by_index["per_work"]["after"] == pytest.approx(2 * ROWS / 400, rel=0.2)
    assert names.index("Handler_read_next") < 12, names[:15]
    if judged:
        assert scans["unusual"]
        assert found_by_index["unusual"]
    assert before[1] * 1000 < found["restarted_between_at"] <= after[0] * 1000
    (setting,) = [one for one in found["settings"] if one["name"] == "innodb_io_capacity"]
    assert setting["after"] == "777"

    page = client.get(reverse("server-diff", args=[server.pk]) + f"?{query}").content.decode()
    assert "The server was restarted between the windows" in page
    assert ("Too short to judge" in page) is not judged
