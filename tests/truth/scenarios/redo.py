"""The redo log: who writes it, a buffer that is too big or too small for it, and what only old names tell."""

from __future__ import annotations

from contextlib import AbstractContextManager, closing
from typing import Any

from tests.servers import RunningServer
from tests.truth.scenario import EVERY, Options, Scenario
from tests.truth.scenarios.flushing import MYSQL_8, bulk_inserts, table, workers

TABLES = 12
#: Servers with threads for the redo log that can be switched.
WRITER_THREADS = ("mysql-8.0.33", "mysql-9.7")
#: Takes both the old and the new names of the redo log's size.
BOTH_NAMES = "mysql-8.0.33"


def twelve_tables(server: RunningServer) -> None:
    """Twelve tables of 240 rows of 1 kB."""
    with closing(server.connect()) as connection:
        cursor = connection.cursor()
        cursor.execute("CREATE DATABASE tm_redo")
        values = ",".join(f"({number}, 0, REPEAT('a', 1000))" for number in range(240))
        for number in range(TABLES):
            cursor.execute(
                f"CREATE TABLE tm_redo.t{number} (id INT PRIMARY KEY, n INT NOT NULL, pad VARBINARY(1000) NOT NULL) "
                "ENGINE=InnoDB"
            )
            cursor.execute(f"INSERT INTO tm_redo.t{number} VALUES {values}")
        connection.commit()


def big_transactions(server: RunningServer) -> AbstractContextManager[object]:
    """Two sessions that change all rows of all tables in each transaction: more redo than a small buffer holds."""

    def step(cursor: Any, number: int, turn: int) -> None:
        cursor.execute("BEGIN")
        for one in range(TABLES):
            cursor.execute(
                f"UPDATE tm_redo.t{one} SET n = n + 1, pad = REPEAT('{turn % 10}', 1000) WHERE id % 2 = {number}"
            )
        cursor.execute("COMMIT")

    return workers(server, 2, 60, step)


def generous_buffer(name: str) -> Options:
    """A log buffer as averages since the start ask for it, and the redo log's size under its old names."""
    return {
        "innodb_log_buffer_size": "300M",
        "performance_schema": "ON",
        "loose_innodb_log_writer_threads": "ON",
        **({"innodb_log_file_size": "64M"} if name == BOTH_NAMES else {}),
    }


def small_buffer(name: str) -> Options:
    """The smallest log buffer that each server takes, a redo log that is not the matter, and commits without a sync."""
    return {
        "innodb_flush_log_at_trx_commit": "0",
        "sync_binlog": "0",
        **({"disable_log_bin": None} if name in MYSQL_8 else {}),
        "innodb_log_buffer_size": "256K",
        "performance_schema": "ON",
        "loose_innodb_log_writer_threads": "OFF",
        "loose_innodb_redo_log_capacity": "1G",
    }


_THREADS = {"redo.redo-log-writer-threads-misfit": "The redo log has no threads of its own there."}
_NAMES = {"redo.redo-log-sized-by-old-names": "Its variables tell the capacity."}

SCENARIOS: tuple[Scenario, ...] = (
    Scenario(
        name="one-statement-writes-the-redo",
        what="Two sessions insert by one statement; the log buffer is huge, and the log's size set by its old names",
        options=generous_buffer,
        setup=table,
        load=bulk_inserts,
        warm_seconds=2,
        inspect=True,
        host={"cpus": 4},
        fires=frozenset(
            {
                "redo.redo-written-by-few-statements",
                "redo.log-buffer-oversized",
                "redo.redo-log-writer-threads-misfit",
                "redo.redo-log-sized-by-old-names",
            }
        ),
        passes=frozenset({"redo.log-buffer-too-small"}),
        but={
            name: {**({} if name in WRITER_THREADS else _THREADS), **({} if name == BOTH_NAMES else _NAMES)}
            for name in EVERY
        },
        quick=True,
        alone=True,
    ),
    Scenario(
        name="big-transactions-in-a-small-log-buffer",
        what="Transactions of more redo than the log buffer holds, by a dozen of statements",
        options=small_buffer,
        setup=twelve_tables,
        load=big_transactions,
        warm_seconds=2,
        inspect=True,
        host={"cpus": 4},
        fires=frozenset({"redo.log-buffer-too-small"}),
        passes=frozenset(
            {
                "redo.redo-written-by-few-statements",
                "redo.log-buffer-oversized",
                "redo.redo-log-writer-threads-misfit",
                "redo.redo-log-sized-by-old-names",
            }
        ),
        but={
            name: {
                **({} if name in WRITER_THREADS else _THREADS),
                **({} if name == BOTH_NAMES else {"redo.redo-log-sized-by-old-names": "It has only one of the names."}),
                **(
                    {"redo.log-buffer-too-small": "It writes a buffer that is half full: no load tried here waited."}
                    if name in ("mysql-5.7.22", "mariadb-10.2.11", "mariadb-10.5")
                    else {}
                ),
            }
            for name in EVERY
        },
        alone=True,
    ),
)
