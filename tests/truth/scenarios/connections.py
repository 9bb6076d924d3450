"""Connections: a server that is full, whose clients come and go without end, fail, forget and never say goodbye."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from typing import Any

from MySQLdb import Error

from tests.servers import RunningServer
from tests.truth.scenario import Options, Scenario
from tests.truth.scenarios.memory import NO_LOOK_UPS, merged, without

LIMIT = 80
ASLEEP = 57
AT_WORK = 17
#: The observer needs a place of its own before the last ones are taken.
OBSERVER_IS_IN_SECONDS = 4.0


def crowded(_name: str) -> Options:
    """Few places, no thread kept, a queue of two, and a client blocked after one broken connection."""
    return {
        "max_connections": str(LIMIT),
        "thread_cache_size": "0",
        "back_log": "2",
        "slow_launch_time": "0",
        "max_connect_errors": "1",
        "max_prepared_stmt_count": "10",
        "skip_name_resolve": "OFF",
        "performance_schema": "ON",
    }


def accounts_without_names(server: RunningServer) -> None:
    """Some installations make accounts at the machine's own name: those are what name look-ups are for."""
    with closing(server.connect()) as connection:
        cursor = connection.cursor()
        cursor.execute("SELECT user, host FROM mysql.user WHERE host NOT IN ('localhost', '127.0.0.1', '%', '::1')")
        for user, host in cursor.fetchall():
            cursor.execute(f"DROP USER '{user}'@'{host}'")


@contextmanager
def _repeating(step: Callable[[], None], pause: float, begin_after: float = 0.0) -> Iterator[None]:
    """A thread that does something again and again; refusals are part of it."""
    ended = threading.Event()

    def work() -> None:
        until = time.monotonic() + 60
        ended.wait(begin_after)
        while not ended.is_set() and time.monotonic() < until:
            with suppress(Error):
                step()
            ended.wait(pause)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join(60)


@contextmanager
def crowd(server: RunningServer) -> Iterator[None]:
    """Sessions that sleep and sessions at work, and clients that come, fail, are cut off and are turned away."""

    def come_and_go() -> None:
        server.connect().close()

    def fail() -> None:
        server.connect(user="nobody", password="wrong").close()

    def cut_off() -> None:
        connection = server.connect()
        with socket.socket(fileno=_duplicate(connection)) as ours:
            ours.shutdown(socket.SHUT_RDWR)
        with suppress(Error):
            connection.close()

    def overflow() -> None:
        with ExitStack() as taken:
            for _ in range(LIMIT):
                taken.enter_context(closing(server.connect()))

    with ExitStack() as stack:
        for number in range(ASLEEP):
            connection = stack.enter_context(closing(server.connect()))
            if number < 9:
                connection.cursor().execute("PREPARE one FROM 'SELECT 1'")
        for _ in range(AT_WORK):
            stack.enter_context(_at_work(server))
        stack.enter_context(_repeating(come_and_go, 0.05))
        stack.enter_context(_repeating(fail, 0.3))
        stack.enter_context(_repeating(cut_off, 0.5))
        stack.enter_context(_repeating(overflow, 1.5, begin_after=OBSERVER_IS_IN_SECONDS))
        yield


def _duplicate(connection: Any) -> int:
    """The connection's descriptor once more, so that it can be shut without the client knowing."""
    return os.dup(connection.fileno())


@contextmanager
def _at_work(server: RunningServer) -> Iterator[None]:
    """A session whose statement takes as long as the block."""
    connection = server.connect()
    number = connection.thread_id()

    def work() -> None:
        with suppress(Error):
            connection.cursor().execute("SELECT SLEEP(60)")

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        yield
    finally:
        for _ in range(20):
            with suppress(Error):
                server.sql(f"KILL {number}")
                break
            time.sleep(0.2)
        thread.join(60)
        with suppress(Error):
            connection.close()


SCENARIOS: tuple[Scenario, ...] = (
    Scenario(
        name="clients-in-a-crowd",
        what="All places are taken, most by sessions that sleep; others come, fail, are cut off and are turned away",
        options=crowded,
        setup=accounts_without_names,
        load=crowd,
        inspect=True,
        host={"cpus": 1},
        fires=frozenset(
            {
                "connections.connections-near-limit",
                "connections.connections-refused",
                "connections.clients-aborted",
                "connections.connects-aborted",
                "connections.thread-cache-small",
                "connections.threads-launched-slowly",
                "connections.back-log-small",
                "connections.idle-sessions-pile-up",
                "connections.too-many-running",
                "connections.prepared-statements-near-limit",
                "connections.names-resolved-for-nothing",
                "connections.max-connect-errors-small",
            }
        ),
        severity={"connections.connections-near-limit": "critical"},
        but=merged(
            without(
                "Its option skip_name_resolve takes no OFF.",
                NO_LOOK_UPS,
                "connections.names-resolved-for-nothing",
                "connections.max-connect-errors-small",
            ),
            without("It counts no refusals.", ("mariadb-10.5",), "connections.connections-refused"),
        ),
        quick=True,
    ),
)
