"""What nobody thought of costs one server its slot, and no other server anything."""

from __future__ import annotations

import json
import time

from tests.hostile.fake import STATUS, VARIABLES, FakeServer, Peer
from tests.schedule.installation import installation

WATCH = """
import io, json, logging, threading
from collector import schedule, watch
from collector.models import OpenSample, Server, ServerState, StoredSnapshot
said = io.StringIO()
logging.getLogger().addHandler(logging.StreamHandler(said))
"""
RUN = """
watch.Watch(schedule.claim(Server.objects.first().shard_id), threading.Event()).run({seconds})
print(json.dumps({{"log": said.getvalue(), **{{
    state.server.name: [state.failures, state.error_kind, state.error, state.last_poll_at is not None]
    for state in ServerState.objects.select_related("server")
}}}}))
"""


def good(peer: Peer) -> None:
    peer.serve("never asked", variables=VARIABLES, status=STATUS)


def test_a_fault_of_ours_makes_its_server_wait_longer_each_time_and_is_logged_once() -> None:
    fault = "def stumble(*_, **__): raise KeyError('nobody thought of this')\nwatch.read_poll = stumble\n"
    with installation() as made, FakeServer(good) as server:
        made.add_server("bad", server.port, "u", "p", fast=1)
        told = json.loads(made.python(WATCH + fault + RUN.format(seconds=8)))
        asked = len(server.peers)
    failures, kind, error, polled = told["bad"]
    # At once, then after 1, 2 and 4 intervals.
    assert 2 <= failures <= 4, told
    assert asked <= 5
    assert kind == "fault"
    assert "fault of Tidemark" in error
    assert not polled
    assert told["log"].count("Traceback") == 1, told["log"]


def test_a_full_collection_that_stumbles_waits_for_its_next_slot_and_polls_go_on() -> None:
    fault = """
real = watch.read_snapshot
calls = []
def stumble(*a, **k):
    calls.append(1)
    if len(calls) > 1:
        raise KeyError("nobody thought of this")
    return real(*a, **k)
watch.read_snapshot = stumble
"""
    with installation() as made, FakeServer(good) as server:
        key = made.add_server("bad", server.port, "u", "p", fast=1, full=2)
        told = json.loads(made.python(WATCH + fault + RUN.format(seconds=7)))
        assert len(made.slots(key)) >= 4, told
        assert len(server.peers) <= 6
    assert told["bad"][0] == 0
    assert told["log"].count("Traceback") == 1, told["log"]


def test_a_stored_row_that_cannot_be_read_stops_neither_its_server_nor_the_others() -> None:
    damage = """
from datetime import UTC, datetime
bad = Server.objects.get(name="damaged")
StoredSnapshot.objects.create(server=bad, slot=1, taken_at=datetime.now(UTC), payload=b"damaged")
OpenSample.objects.create(server=bad, slot=1, payload=b"damaged")
newer = Server.objects.get(name="newer")
StoredSnapshot.objects.create(server=newer, slot=1, taken_at=datetime.now(UTC),
                              payload=__import__("zstandard").ZstdCompressor().compress(b'{"schema": 99}'))
"""
    with installation() as made, FakeServer(good) as server:
        for name in ("damaged", "newer", "whole"):
            made.add_server(name, server.port, "u", "p", fast=1)
        told = json.loads(made.python(WATCH + damage + RUN.format(seconds=3)))
    for name in ("damaged", "newer", "whole"):
        assert told[name] == [0, "", "", True], told
    assert told["log"].count("newest stored snapshot of damaged cannot be read") == 1
    assert told["log"].count("newest stored poll of damaged cannot be read") == 1


def test_a_server_that_asks_for_files_is_left_alone_for_a_day_and_the_journal_knows() -> None:
    def script(peer: Peer) -> None:
        peer.serve("SHOW GRANTS", variables=VARIABLES, status=STATUS)
        peer.ask_for_file()
        peer.read()
        peer.ok()

    with installation() as made, FakeServer(script) as server:
        key = made.add_server("bad", server.port, "u", "p", fast=1)
        told = json.loads(made.python(WATCH + RUN.format(seconds=5)))
        assert len(server.peers) == 1, told
        assert "server.unreadable" in made.events(key)
        state = made.state(key)
    assert told["bad"][:2] == [1, "hostile"]
    assert "tried again in 24 h" in told["bad"][2]
    assert state["retry_at"] > time.time() + 86_000


def test_a_wrong_password_is_soon_tried_hourly_only_and_a_person_can_have_it_tried_at_once() -> None:
    def script(peer: Peer) -> None:
        peer.greet()
        peer.read()
        peer.error(1045, b"Access denied", b"28000")

    again = """
ServerState.objects.update(failures=3)
watch.Watch(schedule.claim(Server.objects.first().shard_id), threading.Event()).run(3)
schedule.try_now(server_id=Server.objects.first().pk)
"""
    with installation() as made, FakeServer(script) as server:
        key = made.add_server("bad", server.port, "u", "p", fast=1)
        made.python(WATCH + again + RUN.format(seconds=3))
        assert len(server.peers) == 2
        state = made.state(key)
    assert state["failures"] == 5
    assert state["retry_at"] > time.time() + 3000
    assert "tried again in 1 h" in state["error"]
