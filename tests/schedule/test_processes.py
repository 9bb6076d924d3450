"""Collecting by real workers and beats from real servers, and what may go wrong around them."""

from __future__ import annotations

import re
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from itertools import pairwise

import pytest

from advisor.mysql import series
from advisor.mysql.rates import Interval, between
from tests.hostile.fake import FakeServer, Peer
from tests.servers import DISTRIBUTION_SERVER, RunningServer, start_server

from .installation import Installation, installation, until

_POLL = re.compile(r"tidemark \*/ SHOW GLOBAL STATUS WHERE")


@pytest.fixture(scope="module")
def target() -> Iterator[RunningServer]:
    with start_server(DISTRIBUTION_SERVER, options={"general_log": "ON"}) as running:
        running.client_user("watcher", "PROCESS")
        yield running


@pytest.fixture
def ours() -> Iterator[Installation]:
    with installation() as made:
        yield made


def _add(ours: Installation, target: RunningServer, name: str, **intervals: int) -> str:
    return ours.add_server(name, target.port, "watcher", "tide-mark.7", **{"fast": 3, **intervals})


def _asked(target: RunningServer, since: int) -> int:
    return len(_POLL.findall(target.general_log()[since:]))


def _connections(target: RunningServer) -> int:
    return int(target.value("(SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE USER = 'watcher')") or 0)


def _without_holes(slots: list[int], interval: int) -> bool:
    """Whether the slots after the first one (which is taken at once) follow each other at the interval."""
    return slots[1:] == list(range(slots[1], slots[-1] + 1, interval))


@contextmanager
def _hanging_server() -> Iterator[int]:
    """A port where every connection is accepted and never hears anything; yields the port."""
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        listener.settimeout(0.1)
        ended = threading.Event()
        taken: list[socket.socket] = []

        def accept() -> None:
            while not ended.is_set():
                with suppress(TimeoutError):
                    taken.append(listener.accept()[0])

        thread = threading.Thread(target=accept)
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            ended.set()
            thread.join()
            for one in taken:
                one.close()


def test_two_beats_and_two_workers_read_each_slot_once(target: RunningServer, ours: Installation) -> None:
    since = len(target.general_log())
    server_id = _add(ours, target, "twice watched")
    ours.start_redis()
    for name in ("one", "two"):
        ours.start_beat(f"beat-{name}")
        ours.start_worker(f"worker-{name}")
    slots = until("eight polls", lambda: len(found := ours.slots(server_id)) >= 8 and found, 60)
    assert _without_holes(slots, 3)
    assert _connections(target) == 1
    # Counted by the server itself; one more poll may have come between the two looks.
    assert _asked(target, since) - len(slots) in (0, 1)
    assert ours.gaps(server_id) == []


def test_a_server_that_hangs_delays_no_other_and_says_why(target: RunningServer, ours: Installation) -> None:
    with ExitStack() as stack:
        ports = [stack.enter_context(_hanging_server()) for _ in range(6)]
        hanging = [ours.add_server(f"hangs {port}", port, "nobody", "x", fast=3) for port in ports]
        good = [_add(ours, target, f"good {number}") for number in range(2)]
        ours.start_redis()
        ours.start_beat()
        worker = ours.start_worker()
        until("all hanging servers are known to hang", lambda: all(ours.state(one)["failures"] for one in hanging), 40)
        began = time.time()
        until("four more polls", lambda: all(len([s for s in ours.slots(one) if s > began]) >= 4 for one in good), 40)
        for one in good:
            assert _without_holes(ours.slots(one), 3)
            assert ours.gaps(one) == []
        for one in hanging:
            state = ours.state(one)
            assert state["error_kind"] == "too-slow"
            assert "hangs or is overloaded" in state["error"]
            assert state["retry_at"] >= state["fast_slot"] > 0
            ((_, ended_at, why),) = ours.gaps(one)
            assert ended_at is None
            assert "127.0.0.1" in why
            assert "server.unreadable" in ours.events(one)
        # A reading of a hanging server is under way at any time: the worker ends without waiting for it.
        assert worker.terminate() < 10
        assert ours.rows("SELECT owner, lease_until FROM collector_shard") == [("", 0.0)]


@pytest.mark.ci
def test_servers_that_flood_take_nothing_from_their_neighbours(target: RunningServer, ours: Installation) -> None:
    def flood(peer: Peer) -> None:
        peer.serve("SHOW GLOBAL VARIABLES")
        peer.flood()

    with ExitStack() as stack:
        floods = [stack.enter_context(FakeServer(flood)) for _ in range(3)]
        flooding = [ours.add_server(f"floods {one.port}", one.port, "nobody", "x", fast=3) for one in floods]
        good = _add(ours, target, "good", fast=3)
        ours.start_redis()
        ours.start_beat()
        ours.start_worker()
        until("all of them were found out", lambda: all(ours.state(one)["failures"] for one in flooding), 60)
        began = time.time()
        until("four more polls", lambda: len([slot for slot in ours.slots(good) if slot > began]) >= 4, 40)
        assert _without_holes(ours.slots(good), 3)
        assert ours.gaps(good) == []


def test_a_holder_whose_time_is_up_gives_the_shard_back(target: RunningServer, ours: Installation) -> None:
    server_id = _add(ours, target, "for a while", fast=2)
    connections = _connections(target)
    said = ours.python(
        "import threading, time\n"
        "import advisor.celery\n"
        "from collector.schedule import claim\n"
        "from collector.watch import Watch\n"
        "began = time.monotonic()\n"
        "held = Watch(claim(0), threading.Event()).run(5)\n"
        "seconds = round(time.monotonic() - began)\n"
        # A thread that was told to end is counted for a moment longer.
        "until = time.monotonic() + 30\n"
        "while threading.active_count() > 2 and time.monotonic() < until: time.sleep(0.1)\n"
        "print(held, seconds, threading.active_count())"
    )
    # Nobody took the lease meanwhile, it ended by itself, and no reading thread is left but the watchdog's.
    held, seconds, threads = said.split()
    assert held == "True"
    assert 5 <= int(seconds) <= 60
    assert int(threads) <= 2
    assert len(ours.slots(server_id)) >= 3
    assert ours.rows("SELECT owner, lease_until FROM collector_shard") == [("", 0.0)]
    until("its connection is closed", lambda: _connections(target) == connections, 5)


@pytest.mark.ci
def test_a_shard_is_handed_from_worker_to_worker_without_a_hole(target: RunningServer, ours: Installation) -> None:
    server_id = _add(ours, target, "handed over", fast=2)
    ours.start_redis()
    for name in ("one", "two"):
        ours.start(
            name,
            [
                sys.executable,
                "-c",
                "import django\n"
                "django.setup()\n"
                "import collector.tasks\n"
                "collector.tasks.WATCH_SECONDS = 3.0\n"
                "from advisor.celery import app\n"
                "app.worker_main(['worker', '--without-gossip', '--without-mingle', '--pool', 'threads',"
                f" '--concurrency', '3', '--queues', 'collect', '--hostname', '{name}@test'])",
            ],
        )
    # No beat: each holder hands over by itself.
    terms = until("five holders", lambda: ours.rows("SELECT term FROM collector_shard WHERE term >= 5"), 60)
    assert terms
    assert _without_holes(ours.slots(server_id), 2)
    assert ours.gaps(server_id) == []


@pytest.mark.ci
def test_a_stolen_lease_ends_the_reading_and_its_connections(target: RunningServer, ours: Installation) -> None:
    server_id = _add(ours, target, "stolen")
    ours.start_redis()
    ours.start_worker()
    until("polls", lambda: len(ours.slots(server_id)) >= 2)
    until("our connection", lambda: _connections(target) == 1)
    ours.python(
        "import time\n"
        "from collector.models import Shard\n"
        "from django.db.models import F\n"
        "Shard.objects.update(owner='elsewhere/0/0/1/1', term=F('term') + 1, lease_until=time.time() + 25)"
    )
    since, stored = len(target.general_log()), ours.slots(server_id)
    until("the connection is closed", lambda: _connections(target) == 0, 15)
    time.sleep(6)
    assert _asked(target, since) == 0, "who lost the lease asked the server again"
    assert ours.slots(server_id) == stored
    # The thief never renews, and a worker takes over when its lease has run out (a tick would tell it: beat's part).
    ours.start_beat()
    until("somebody watches again", lambda: len(ours.slots(server_id)) > len(stored), 40)
    ((_, _, why),) = ours.gaps(server_id)
    assert "No worker watched" in why


def test_a_restart_of_the_server_is_a_gap_and_no_negative_rate(ours: Installation) -> None:
    with start_server(DISTRIBUTION_SERVER) as target:
        target.client_user("watcher", "PROCESS")
        server_id = _add(ours, target, "restarted", full=600)
        ours.start_redis()
        ours.start_worker()
        until("polls", lambda: len(ours.slots(server_id)) >= 3)
        before = ours.slots(server_id)
        snapshots = ours.rows("SELECT COUNT(*) FROM collector_storedsnapshot")
        target.sql("CREATE TABLE test.t (a INT)") if target.sql("SHOW DATABASES LIKE 'test'") else None
        target.restart()
        until("it is watched again", lambda: len(ours.slots(server_id)) >= len(before) + 3, 60)
        polls = ours.polls(server_id)
        breaks = [(a, b) for a, b in pairwise(polls) if not isinstance(between(a, b), Interval)]
        assert len(breaks) == 1
        assert ours.events(server_id).count("server.restarted") == 1
        gaps = ours.gaps(server_id)
        assert len(gaps) >= 1
        assert all(ended_at is not None for _, ended_at, _ in gaps)
        assert ours.rows("SELECT COUNT(*) FROM collector_storedsnapshot") > snapshots, "options were not read again"
        for a, b in pairwise(polls):
            pair = between(a, b)
            if isinstance(pair, Interval):
                for name in b.values:
                    rate = pair.per_second(name)
                    assert rate is None or rate >= 0, name
        assert series.CHECKPOINT_AGE in polls[-1].values


@pytest.mark.ci
def test_collecting_goes_on_without_the_broker(target: RunningServer, ours: Installation) -> None:
    server_id = _add(ours, target, "unbroken")
    redis = ours.start_redis()
    ours.start_beat()
    ours.start_worker()
    until("polls", lambda: len(ours.slots(server_id)) >= 2)
    with closing(socket.socket(socket.AF_UNIX)) as line:
        line.connect(str(ours.socket))
        line.sendall(b"FLUSHALL\r\n")
        assert line.recv(10).startswith(b"+OK")
    count = len(ours.slots(server_id))
    until("polls after FLUSHALL", lambda: len(ours.slots(server_id)) >= count + 2)
    redis.kill()
    count = len(ours.slots(server_id))
    until("polls without any broker", lambda: len(ours.slots(server_id)) >= count + 3)
    ours.socket.unlink(missing_ok=True)
    ours.start_redis()
    count = len(ours.slots(server_id))
    until("polls with a new broker", lambda: len(ours.slots(server_id)) >= count + 2)
    assert _without_holes(ours.slots(server_id), 3)
    assert ours.gaps(server_id) == []


@pytest.mark.ci
def test_a_worker_started_after_a_broker_restart_takes_over_from_a_killed_one(
    target: RunningServer, ours: Installation
) -> None:
    server_id = _add(ours, target, "taken over", fast=8)
    redis = ours.start_redis()
    worker = ours.start_worker()
    until("polls", lambda: len(ours.slots(server_id)) >= 2)
    worker.kill()
    redis.kill()
    ours.socket.unlink(missing_ok=True)
    ours.start_redis()
    # As if it had been renewed for a minute just now: whoever waits for a lease of a process that is gone is too late.
    ours.python("import time; from collector.models import Shard; Shard.objects.update(lease_until=time.time() + 58)")
    count = len(ours.slots(server_id))
    ours.start_worker()
    until("the next slot", lambda: len(ours.slots(server_id)) > count, 40)


def test_a_person_may_ask_for_a_try_at_once(ours: Installation) -> None:
    with start_server(DISTRIBUTION_SERVER) as target:
        target.client_user("watcher", "PROCESS")
        server_id = _add(ours, target, "tried", fast=20)
        target.stop()
        ours.start_redis()
        ours.start_worker()
        until("two failures", lambda: ours.state(server_id)["failures"] >= 2, 60)
        assert ours.state(server_id)["error_kind"] == "refused"
        target.start()
        ours.python(f"from collector.schedule import try_now; assert try_now(server_id={server_id!r})")
        # After two failures it would be left alone for forty seconds.
        until("it is read", lambda: ours.slots(server_id), 30)
        assert ours.state(server_id)["failures"] == 0
        assert ours.state(server_id)["error"] == ""
        assert ours.events(server_id)[-1] == "server.recovered"
        ((_, ended_at, why),) = ours.gaps(server_id)
        assert ended_at == ours.slots(server_id)[0]
        assert "127.0.0.1" in why
