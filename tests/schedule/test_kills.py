"""A worker that is killed between a server's answer and our commit loses no slot, and nothing is stored twice."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass

import pytest

from tests.servers import DISTRIBUTION_SERVER, RunningServer, start_server

from .installation import Installation, installation, until

INTERVAL = 10
_POLL = re.compile(r"(\d+) Query\t/\* tidemark \*/ SHOW GLOBAL STATUS WHERE")


@dataclass(frozen=True)
class Kill:
    """What was seen of one kill: the target's log line, that it had been answered, and that nothing was committed."""

    slot: int
    logged: str
    connection_state: str
    stored_before: bool
    due_after: int


def _polls_in(log: str) -> list[re.Match[str]]:
    return list(_POLL.finditer(log))


def _connection_state(target: RunningServer, thread: str) -> str:
    """What the target says its connection to us does: Sleep once a statement's answer was sent."""
    rows = target.sql(f"SELECT COMMAND FROM information_schema.PROCESSLIST WHERE ID = {thread}")
    return str(rows[0][0]) if rows else "gone"


def _kill_between_answer_and_commit(ours: Installation, target: RunningServer, server_id: str) -> Kill:
    """Keeps the worker from committing by holding the database's write lock, waits for the answer, and kills it."""
    worker = ours.children[-1]
    # A slot far enough ahead to take the lock before its reading begins.
    slot = until("a slot that is yet to come", lambda: _coming(ours, server_id), seconds=3 * INTERVAL)
    time.sleep(max(0.0, slot - 2.0 - time.time()))
    with ours.write_lock():
        seen = len(target.general_log())
        logged = until(f"slot {slot} is asked for", lambda: _polls_in(target.general_log()[seen:]), seconds=INTERVAL)[0]
        until("the server answered", lambda: _connection_state(target, logged[1]) == "Sleep", seconds=5)
        state = _connection_state(target, logged[1])
        worker.kill()
        kill = Kill(
            slot=slot,
            logged=logged[0],
            connection_state=state,
            stored_before=slot in ours.slots(server_id),
            due_after=ours.state(server_id)["fast_slot"],
        )
    ours.start_worker()
    return kill


def _coming(ours: Installation, server_id: str) -> int:
    slot = int(ours.state(server_id)["fast_slot"])
    return slot if slot > time.time() + 2.5 and ours.slots(server_id) else 0


def _wait_for_successor(ours: Installation, server_id: str, slot: int) -> None:
    until(f"slot {slot} is stored by the successor", lambda: slot in ours.slots(server_id), 2 * INTERVAL)


@pytest.mark.parametrize("kills", [3, pytest.param(20, marks=pytest.mark.ci)])
def test_a_worker_killed_between_answer_and_commit_loses_no_slot(kills: int) -> None:
    with start_server(DISTRIBUTION_SERVER, options={"general_log": "ON"}) as target, installation() as ours:
        account = target.client_user("watcher", "PROCESS")
        server_id = ours.add_server("target", target.port, account.user, account.password, fast=INTERVAL, full=600)
        ours.start_redis()
        ours.start_beat()
        ours.start_worker()
        seen = []
        for _ in range(kills):
            kill = _kill_between_answer_and_commit(ours, target, server_id)
            seen.append(kill)
            # Shown by the server: the statement arrived and was answered; by our database: it was not committed.
            assert kill.connection_state == "Sleep", kill
            assert not kill.stored_before, kill
            assert kill.due_after == kill.slot, kill
            _wait_for_successor(ours, server_id, kill.slot)
        assert len({kill.slot for kill in seen}) == kills
        slots = ours.slots(server_id)
        first = slots[1]  # the very first poll of a new server is taken at once, between two slots
        assert slots[1:] == list(range(first, slots[-1] + 1, INTERVAL)), "a slot is missing or there twice"
        assert ours.gaps(server_id) == []
        # Each killed slot was asked for twice: once by the one that was killed, once by its successor.
        asked = len(_polls_in(target.general_log()))
        assert asked == len(slots) + kills
