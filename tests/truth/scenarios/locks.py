"""Locks: sessions that wait for rows and tables, deadlocks, and a transaction that somebody forgot."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from typing import Any

from MySQLdb import Error

from tests.servers import RunningServer
from tests.truth.scenario import Scenario
from tests.truth.scenarios.flushing import workers


def two_kinds_of_tables(server: RunningServer) -> None:
    """Some rows in an InnoDB table and some in a MyISAM table."""
    with closing(server.connect()) as connection:
        cursor = connection.cursor()
        cursor.execute("CREATE DATABASE tm_locks")
        for name, engine in (("i", "InnoDB"), ("m", "MyISAM")):
            cursor.execute(f"CREATE TABLE tm_locks.{name} (id INT PRIMARY KEY, n INT NOT NULL) ENGINE={engine}")
            cursor.execute(f"INSERT INTO tm_locks.{name} VALUES (1, 0), (2, 0), (3, 0)")
            for number in range(4, 40):
                cursor.execute(f"INSERT INTO tm_locks.{name} VALUES ({number}, 0)")
        connection.commit()


@contextmanager
def contention(server: RunningServer) -> Iterator[None]:
    """One session forgot to commit, four wait for its row, two meet in deadlocks, three share a MyISAM table."""

    def wait(cursor: Any, _number: int, turn: int) -> None:
        if turn == 0:
            cursor.execute("SET SESSION innodb_lock_wait_timeout = 1")
        with suppress(Error):
            cursor.execute("UPDATE tm_locks.i SET n = n + 1 WHERE id = 1")

    def deadlock(cursor: Any, number: int, turn: int) -> None:
        first, second = (2, 3) if number == 0 else (3, 2)
        if turn == 0:
            cursor.execute("SET SESSION innodb_lock_wait_timeout = 5")
        with suppress(Error):
            cursor.execute("BEGIN")
            cursor.execute(f"UPDATE tm_locks.i SET n = n + 1 WHERE id = {first}")
            if number == 0:
                # The one that did more survives, and comes last: older versions count only the deadlocks whose victim
                # was waiting already.
                cursor.execute("UPDATE tm_locks.i SET n = n + 1 WHERE id > 3")
            time.sleep(0.6 if number == 0 else 0.3)
            cursor.execute(f"UPDATE tm_locks.i SET n = n + 1 WHERE id = {second}")
        with suppress(Error):
            cursor.execute("ROLLBACK")
        time.sleep(0.1)

    def share(cursor: Any, number: int, _turn: int) -> None:
        if number == 0:
            cursor.execute("UPDATE tm_locks.m SET n = n + SLEEP(0.05) WHERE id <= 3")
        else:
            cursor.execute("SELECT SUM(n) FROM tm_locks.m")
            cursor.fetchall()

    with ExitStack() as stack:
        forgotten = stack.enter_context(closing(server.connect()))
        forgotten.autocommit(False)
        forgotten.cursor().execute("UPDATE tm_locks.i SET n = n + 1 WHERE id = 1")
        stack.enter_context(workers(server, 4, 60, wait))
        stack.enter_context(workers(server, 2, 60, deadlock))
        stack.enter_context(workers(server, 3, 60, share))
        yield


SCENARIOS: tuple[Scenario, ...] = (
    Scenario(
        name="everybody-waits-for-locks",
        what="A transaction left open holds a row that others want; deadlocks, and a MyISAM table that is shared",
        options={"performance_schema": "ON"},
        setup=two_kinds_of_tables,
        load=contention,
        inspect=True,
        fires=frozenset(
            {
                "locks.row-lock-waits-long",
                "locks.table-locks-waited",
                "locks.deadlocks-frequent",
                "locks.deadlocks-not-logged",
                "locks.lock-wait-timeouts",
                "locks.long-transaction-open",
            }
        ),
        quick=True,
    ),
)
