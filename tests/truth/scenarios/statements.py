"""Statements that are badly written, one habit to a session; and the same server with nothing to say about it."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from tests.servers import RunningServer
from tests.truth.exceptions import except_on
from tests.truth.scenario import Scenario
from tests.truth.sessions import prepared, sessions

#: Servers that count slow statements only while the slow query log is on.
_UNCOUNTED = ("mysql-5.7.22", "mysql-8.0.12", "mariadb-10.2.11")
_DIGITS = " UNION ".join(f"SELECT {digit} d" for digit in range(8))


def _tables(server: RunningServer) -> None:
    """4,096 rows without an index but the key, a table of 200 to join with, and small ones to write to."""
    prepared(
        server,
        "CREATE DATABASE tm_habits",
        "CREATE TABLE tm_habits.t (id INT PRIMARY KEY, other INT NOT NULL, name VARCHAR(100) NOT NULL) ENGINE=InnoDB",
        "INSERT INTO tm_habits.t SELECT a.d * 512 + b.d * 64 + c.d * 8 + e.d, a.d * 512 + b.d, "
        "REPEAT(CHAR(97 + (a.d * 8 + c.d) % 26), 90) "
        f"FROM ({_DIGITS}) a, ({_DIGITS}) b, ({_DIGITS}) c, ({_DIGITS}) e",
        "CREATE TABLE tm_habits.low (id INT PRIMARY KEY, low INT NOT NULL, high INT NOT NULL, KEY (low), KEY (high)) "
        "ENGINE=InnoDB",
        "INSERT INTO tm_habits.low SELECT id, id, id FROM tm_habits.t WHERE id < 200",
        "CREATE TABLE tm_habits.log (id INT AUTO_INCREMENT PRIMARY KEY, word VARCHAR(20)) ENGINE=InnoDB",
        "CREATE TABLE tm_habits.queue (id INT) ENGINE=InnoDB",
        "CREATE TABLE tm_habits.locked (id INT) ENGINE=InnoDB",
    )


def _joining(cursor: Any, _number: int) -> None:
    cursor.execute(
        "SELECT COUNT(*) FROM tm_habits.t a STRAIGHT_JOIN tm_habits.t b ON b.other = a.other WHERE a.id BETWEEN 1 AND 3"
    )
    cursor.fetchall()


def _checking(cursor: Any, _number: int) -> None:
    cursor.execute(
        "SELECT COUNT(*) FROM tm_habits.low a STRAIGHT_JOIN tm_habits.low b ON b.low < a.low AND b.high > a.high + 190 "
        "WHERE a.id < 5"
    )
    cursor.fetchall()


def _sorting(cursor: Any, _number: int) -> None:
    cursor.execute("SELECT id, other, name FROM tm_habits.t ORDER BY name DESC, other, id LIMIT 3500, 500")
    cursor.fetchall()


def _ordering(cursor: Any, _number: int) -> None:
    cursor.execute("SELECT id FROM tm_habits.t ORDER BY other DESC, id LIMIT 4000, 1")
    cursor.fetchall()


def _rolling_back(cursor: Any, _number: int) -> None:
    cursor.execute("BEGIN")
    cursor.execute("INSERT INTO tm_habits.log (word) VALUES ('never')")
    cursor.execute("ROLLBACK")


def _chattering(cursor: Any, _number: int) -> None:
    for _ in range(10):
        cursor.execute("SET NAMES utf8mb4")
    cursor.execute("USE tm_habits")


def _preparing(cursor: Any, _number: int) -> None:
    cursor.execute("PREPARE one FROM 'SELECT 1'")
    cursor.execute("EXECUTE one")
    cursor.fetchall()
    cursor.execute("DEALLOCATE PREPARE one")


def _watching(cursor: Any, _number: int) -> None:
    cursor.execute("SHOW GLOBAL VARIABLES LIKE 'version'")
    cursor.fetchall()


def _emptying(cursor: Any, _number: int) -> None:
    cursor.execute("TRUNCATE TABLE tm_habits.queue")


def _locking(cursor: Any, _number: int) -> None:
    cursor.execute("LOCK TABLES tm_habits.locked WRITE")
    cursor.execute("UNLOCK TABLES")


def _inserting(cursor: Any, _number: int) -> None:
    cursor.execute("INSERT INTO tm_habits.log (word) VALUES ('one')")


def bad_habits(server: RunningServer) -> AbstractContextManager[object]:
    """Twelve sessions, each with a habit of its own and a pause between its turns."""
    return sessions(
        server,
        _joining,
        _checking,
        _sorting,
        _sorting,
        _ordering,
        _ordering,
        _rolling_back,
        _chattering,
        _preparing,
        _watching,
        _emptying,
        _locking,
        pause=0.02,
    )


def one_by_one(server: RunningServer) -> AbstractContextManager[object]:
    """Eight sessions that insert single rows."""
    return sessions(server, *[_inserting] * 8)


def _dawdling(cursor: Any, _number: int) -> None:
    cursor.execute("SELECT SLEEP(0.25)")
    cursor.fetchall()


def dawdling(server: RunningServer) -> AbstractContextManager[object]:
    """Four sessions whose statements take a quarter of a second."""
    return sessions(server, *[_dawdling] * 4)


_HABITS = frozenset(
    {
        "statements.sort-merge-passes",
        "statements.joins-without-index",
        "statements.range-checks-per-row",
        "statements.tables-scanned",
        "statements.rows-sorted-many",
        "statements.rollbacks-frequent",
        "statements.prepared-once-executed-once",
        "statements.session-chatter",
        "statements.monitoring-frequent",
        "statements.tables-locked-explicitly",
        "statements.schema-changes-frequent",
    }
)
_SLOW = frozenset({"statements.slow-statements-frequent"})
_SETTINGS = frozenset({"statements.optimizer-prune-off"})

SCENARIOS: tuple[Scenario, ...] = (
    Scenario(
        name="statements-with-bad-habits",
        what="Each bad habit is told by its rate, and no buffer is raised for everybody on account of it",
        options={
            "sort_buffer_size": "32768",
            "innodb_flush_log_at_trx_commit": "1",
            "optimizer_prune_level": "0",
        },
        setup=_tables,
        load=bad_habits,
        warm_seconds=1,
        fires=_HABITS | _SETTINGS,
        passes=frozenset({"statements.single-row-transactions"}),
    ),
    Scenario(
        name="rows-inserted-one-by-one",
        what="Single-row inserts with autocommit: batching is told, durability is left alone",
        options={"innodb_flush_log_at_trx_commit": "1", "slow_query_log": "ON"},
        setup=_tables,
        load=one_by_one,
        warm_seconds=1,
        fires=frozenset({"statements.single-row-transactions"}),
        passes=_HABITS | _SETTINGS | _SLOW,
    ),
    Scenario(
        name="statements-that-dawdle",
        what="Statements that take longer than was agreed on, and nothing that writes them down",
        options={"long_query_time": "0.2", "slow_query_log": "OFF"},
        load=dawdling,
        warm_seconds=1,
        fires=_SLOW | {"logging.slow-log-off"},
        passes=frozenset({"statements.single-row-transactions"}),
        but=except_on((_UNCOUNTED, "counts them only while the log is on", (*_SLOW, "logging.slow-log-off"))),
    ),
)
