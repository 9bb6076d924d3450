"""The redo log: who writes it, a buffer that is too big or too small for it, and what only old names tell."""

from __future__ import annotations

from contextlib import AbstractContextManager, closing
from typing import Any

from tests.servers import RunningServer
from tests.truth.scenario import EVERY, Options, Scenario
from tests.truth.scenarios.flushing import MYSQL_8, ONE_CLEANER, bulk_inserts, paced_updates, table, workers

TABLES = 12
#: Servers with threads for the redo log that can be switched.
WRITER_THREADS = ("mysql-8.0.33", "mysql-9.7")
#: Takes both the old and the new names of the redo log's size.
BOTH_NAMES = "mysql-8.0.33"


def twelve_tables(server: RunningServer) -> None:
    """Twelve tables of 400 rows of 1 kB."""
    with closing(server.connect()) as connection:
        cursor = connection.cursor()
        cursor.execute("CREATE DATABASE tm_redo")
        values = ",".join(f"({number}, 0, REPEAT('a', 1000))" for number in range(400))
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
        "loose_innodb_log_file_size": "512M",
    }


def steady_updates(server: RunningServer) -> AbstractContextManager[object]:
    """Some 60 updates of a row of 1 kB a second: about 150 kB of redo."""

    def step(cursor: Any, _number: int, turn: int) -> None:
        cursor.execute(
            f"UPDATE tm_flush.t SET n = n + 1, pad = REPEAT('{turn % 10}', 1000) WHERE id = {1 + turn * 37 % 4000}"
        )

    return workers(server, 1, 60, step, pause=0.015)


def huge_log(_name: str) -> Options:
    """A redo log of 12 GiB, and flushing that writes every page as soon as it changes."""
    return {
        "innodb_redo_log_capacity": "12G",
        "innodb_io_capacity": "400",
        "innodb_io_capacity_max": "16000",
        "innodb_max_dirty_pages_pct": "0",
        "innodb_max_dirty_pages_pct_lwm": "0",
    }


def short_log(_name: str) -> Options:
    """A redo log of 16 MiB, which the rows made before fill by half, and flushing that lets them."""
    return {
        "innodb_log_file_size": "16M",
        "innodb_log_buffer_size": "2M",
        "innodb_adaptive_flushing_lwm": "40",
        "performance_schema": "ON",
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
        host={"cpus": 4},
        fires=frozenset({"redo.log-buffer-too-small"}),
        passes=frozenset(
            {
                "redo.log-buffer-oversized",
                "redo.redo-log-writer-threads-misfit",
                "redo.redo-log-sized-by-old-names",
                "flushing.dirty-pages-flushed-early",
                "flushing.flush-sync-off",
            }
        ),
        but={
            name: {
                **({} if name in WRITER_THREADS else _THREADS),
                **({} if name == BOTH_NAMES else {"redo.redo-log-sized-by-old-names": "It has only one of the names."}),
                **(
                    {"redo.log-buffer-too-small": "It writes a half-full buffer in time, or takes none below 2 MiB."}
                    if name not in MYSQL_8
                    else {}
                ),
            }
            for name in EVERY
        },
        alone=True,
    ),
    Scenario(
        name="week-of-little-load-with-a-huge-log",
        what="A redo log of 12 GiB and a high innodb_io_capacity_max on slow disks, for a week of small updates",
        servers=WRITER_THREADS,
        elsewhere="Their log is written in full when they start.",
        options=huge_log,
        setup=table,
        load=paced_updates,
        warm_seconds=3,
        hours=170,
        host={"storage": "hdd", "write_latency_microseconds": 14_000},
        fires=frozenset({"redo.redo-log-oversized", "flushing.io-capacity-max-too-high"}),
        inspect=True,
        passes=frozenset(
            {
                "redo.redo-log-shorter-than-busy-hour",
                "redo.redo-log-undersized",
                "redo.redo-written-by-few-statements",
            }
        ),
    ),
    Scenario(
        name="day-of-steady-writes-with-a-short-log",
        what="Flushing keeps up, but the redo log holds minutes of what is written in every hour of a day",
        servers=ONE_CLEANER,
        elsewhere="They let the age rise only as far as their adaptive flushing wants.",
        options=short_log,
        setup=table,
        load=steady_updates,
        warm_seconds=1,
        hours=170,
        host={"storage": "ssd", "write_latency_microseconds": 900},
        fires=frozenset({"redo.redo-log-shorter-than-busy-hour"}),
        inspect=True,
        passes=frozenset(
            {
                "redo.redo-log-oversized",
                "redo.redo-log-undersized",
                "redo.redo-written-by-few-statements",
                "flushing.io-capacity-max-too-high",
                "flushing.io-capacity-too-low",
                "flushing.dirty-pages-limit-reached",
                "flushing.adaptive-flushing-blind",
            }
        ),
        quick=True,
    ),
)
