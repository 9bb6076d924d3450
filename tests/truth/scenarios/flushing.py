"""Flushing: settings that fit neither the device nor the load, a full log that cannot grow, an open transaction."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from typing import Any

from tests.servers import RunningServer
from tests.truth.scenario import EVERY, MARIADB, MYSQL, Options, Scenario

ROWS = 4_000
MYSQL_8 = tuple(name for name in MYSQL if name != "mysql-5.7.22")
#: Servers that have one instance of the buffer pool and one page cleaner.
ONE_CLEANER = tuple(name for name in MARIADB if name != "mariadb-10.2.11")
#: Servers that do without a change buffer.
NO_CHANGE_BUFFER = ("mariadb-11.4.5", "mariadb-11.8")


def table(server: RunningServer) -> None:
    """A table of 4,000 rows of 1 kB, and an empty one to insert into."""
    with closing(server.connect()) as connection:
        cursor = connection.cursor()
        cursor.execute("CREATE DATABASE tm_flush")
        for name in ("t", "log"):
            cursor.execute(
                f"CREATE TABLE tm_flush.{name} (id INT AUTO_INCREMENT PRIMARY KEY, n INT NOT NULL, "
                "pad VARBINARY(1000) NOT NULL) ENGINE=InnoDB"
            )
        for _ in range(ROWS // 500):
            values = ",".join(["(0, REPEAT('a', 1000))"] * 500)
            cursor.execute(f"INSERT INTO tm_flush.t (n, pad) VALUES {values}")
        connection.commit()


@contextmanager
def workers(
    server: RunningServer, threads: int, seconds: float, step: Callable[[Any, int, int], None], pause: float = 0.0
) -> Iterator[None]:
    """Threads that run a step again and again for at most so many seconds, and are gone when the block ends."""
    ended = threading.Event()
    until = time.monotonic() + seconds

    def work(number: int) -> None:
        with closing(server.connect()) as connection:
            connection.autocommit(True)
            cursor = connection.cursor()
            turn = 0
            while not ended.is_set() and time.monotonic() < until:
                step(cursor, number, turn)
                turn += 1
                if pause:
                    ended.wait(pause)

    running = [threading.Thread(target=work, args=(number,), daemon=True) for number in range(threads)]
    for one in running:
        one.start()
    try:
        yield
    finally:
        ended.set()
        for one in running:
            one.join(60)


def paced_updates(server: RunningServer) -> AbstractContextManager[object]:
    """Some 200 updates of one row a second, scattered over the table."""

    def step(cursor: Any, number: int, turn: int) -> None:
        cursor.execute(f"UPDATE tm_flush.t SET n = n + 1 WHERE id = {1 + (turn * 2 + number) * 37 % ROWS}")

    return workers(server, 2, 60, step, pause=0.008)


def bulk_inserts(server: RunningServer) -> AbstractContextManager[object]:
    """Rows of 1 kB, thirty at a time, as fast as two sessions insert them."""

    def step(cursor: Any, _number: int, _turn: int) -> None:
        values = ",".join(["(1, REPEAT('b', 1000))"] * 30)
        cursor.execute(f"INSERT INTO tm_flush.log (n, pad) VALUES {values}")

    return workers(server, 2, 40, step)


def hasty_inserts(server: RunningServer) -> AbstractContextManager[object]:
    """The same by four sessions and a hundred rows at a time."""

    def step(cursor: Any, _number: int, _turn: int) -> None:
        values = ",".join(["(1, REPEAT('b', 1000))"] * 100)
        cursor.execute(f"INSERT INTO tm_flush.log (n, pad) VALUES {values}")

    return workers(server, 4, 25, step)


def misfits(_name: str) -> Options:
    """Whatever can be set wrongly for flushing, but for what belongs to rotating disks."""
    return {
        "innodb_buffer_pool_size": "1G",
        "loose_innodb_buffer_pool_instances": "8",
        "loose_innodb_page_cleaners": "1",
        "innodb_adaptive_flushing": "OFF",
        "innodb_adaptive_flushing_lwm": "60",
        "innodb_flushing_avg_loops": "600",
        "loose_innodb_idle_flush_pct": "5",
        "innodb_flush_neighbors": "2",
        "innodb_io_capacity": "1000",
        "innodb_io_capacity_max": "1900",
        "innodb_lru_scan_depth": "20000",
        "innodb_use_native_aio": "OFF",
        "innodb_read_io_threads": "2",
        "innodb_write_io_threads": "2",
        "innodb_flush_method": "fsync",
        "loose_innodb_data_file_buffering": "ON",
        "loose_innodb_change_buffering": "all",
        "innodb_max_purge_lag": "1000000",
        "loose_innodb_doublewrite_pages": "4",
        "innodb_purge_threads": "1",
        "innodb_undo_log_truncate": "OFF",
        # Pages are written as soon as they change, so that a small load is flushed.
        "innodb_max_dirty_pages_pct": "0",
        "innodb_max_dirty_pages_pct_lwm": "0",
    }


def crawling(_name: str) -> Options:
    """A small redo log and the slowest flushing there is, which keeps to its rate even when the log is full."""
    return {
        "loose_innodb_redo_log_capacity": "16M",
        "loose_innodb_log_file_size": "8M",
        "innodb_log_buffer_size": "1M",
        "innodb_io_capacity": "100",
        "innodb_io_capacity_max": "200",
        "innodb_flush_sync": "OFF",
        "innodb_max_dirty_pages_pct": "10",
        "innodb_max_dirty_pages_pct_lwm": "0",
        "innodb_flush_log_at_trx_commit": "0",
    }


def held_back(name: str) -> Options:
    """Undo of its own that is not truncated, and commits that wait for no disk."""
    options: dict[str, str | None] = {
        "innodb_flush_log_at_trx_commit": "0",
        "sync_binlog": "0",
        "innodb_undo_log_truncate": "OFF",
    }
    return options | ({"disable_log_bin": None} if name in MYSQL_8 else {})


@contextmanager
def open_transaction(server: RunningServer) -> Iterator[None]:
    """One session reads and stays in its transaction while two others update until 100,000 old versions wait."""

    def step(cursor: Any, number: int, turn: int) -> None:
        cursor.execute(f"UPDATE tm_flush.t SET n = n + 1 WHERE id = {1 + (turn * 2 + number) % 50}")

    with closing(server.connect()) as reader:
        reader.autocommit(False)
        cursor = reader.cursor()
        cursor.execute("SELECT COUNT(*) FROM tm_flush.t")
        cursor.fetchall()
        with workers(server, 3, 90, step):
            until = time.monotonic() + 80
            while time.monotonic() < until and _history(server) < 105_000:
                time.sleep(0.5)
        server.sql("SET GLOBAL innodb_max_purge_lag = 20000")
        server.sql("SET GLOBAL innodb_max_purge_lag_delay = 3000")
        with workers(server, 1, 30, step, pause=0.02):
            yield


def _history(server: RunningServer) -> int:
    rows = server.sql("SELECT `COUNT` FROM information_schema.INNODB_METRICS WHERE NAME = 'trx_rseg_history_len'")
    return int(rows[0][0] or 0)


_SETTINGS = frozenset(
    {
        "flushing.adaptive-flushing-off",
        "flushing.adaptive-flushing-starts-late",
        "flushing.flushing-average-too-long",
        "flushing.idle-flushing-slowed",
        "flushing.flush-neighbors-on-flash",
        "flushing.lru-scan-depth-excessive",
        "flushing.native-aio-off",
        "flushing.io-threads-few",
        "flushing.change-buffering-on-flash",
        "flushing.purge-lag-limit-without-effect",
        "flushing.io-capacity-max-not-multiple",
        "flushing.flush-method-buffered",
    }
)
_OF_A_DISK = frozenset(
    {
        "flushing.flush-neighbors-off-on-rotating-disk",
        "flushing.io-capacity-above-device",
        "flushing.flush-method-unsafe",
    }
)
_UNDER_LOAD = frozenset(
    {
        "flushing.page-cleaners-fewer-than-instances",
        "flushing.doublewrite-pages-below-default",
        "flushing.purge-threads-few",
    }
)

#: Which rules of these scenarios do not hold for which servers, and why.
_NOT_THERE: dict[str, dict[str, str]] = {
    name: {
        **(
            {}
            if name in ("mysql-8.0.33", "mysql-9.7", "mariadb-10.2.11")
            else {"flushing.idle-flushing-slowed": "There is no innodb_idle_flush_pct."}
        ),
        **(
            {
                "flushing.io-capacity-max-not-multiple": "It does not divide the two.",
                "flushing.flush-neighbors-on-flash": "It leaves neighbours alone on flash by itself.",
                "flushing.page-cleaners-fewer-than-instances": "It has one page cleaner.",
            }
            if name in ONE_CLEANER
            else {}
        ),
        **({"flushing.change-buffering-on-flash": "It has none."} if name in NO_CHANGE_BUFFER else {}),
        **(
            {"flushing.purge-threads-few": "One thread is its default."}
            if name == "mysql-9.7"
            else {"flushing.doublewrite-pages-below-default": "Its default is smaller, or it has no such size."}
        ),
        **({"flushing.writes-delayed-by-purge-lag": "MariaDB hardly delays anything."} if name in MARIADB else {}),
    }
    for name in EVERY
}

#: Where this load is not enough to hold flushing at its limit in each run.
_KEEPS_UP: dict[str, dict[str, str]] = {
    "mysql-9.7": {"flushing.io-capacity-too-low": "Held back, it writes less than 85 of its 100 pages a second."},
    "mariadb-10.5": {
        "flushing.io-capacity-too-low": "It writes fast enough for this load, just below its limit.",
        "flushing.flush-sync-off": "It writes fast enough for this load, just below its limit.",
    },
}

SCENARIOS: tuple[Scenario, ...] = (
    Scenario(
        name="flushing-misfits-on-flash",
        what="Everything about flushing that a person can set is set wrongly, on flash, under a small load",
        options=misfits,
        setup=table,
        load=paced_updates,
        warm_seconds=2,
        host={"storage": "ssd"},
        fires=_SETTINGS | _UNDER_LOAD,
        passes=_OF_A_DISK | {"flushing.free-page-waits", "flushing.history-list-growing"},
        but=_NOT_THERE,
        quick=True,
    ),
    Scenario(
        name="flushing-misfits-on-rotating-disks",
        what="Settings for flash on rotating disks, and data files that are never synced",
        options={
            "innodb_io_capacity": "1500",
            "innodb_io_capacity_max": "3000",
            "innodb_flush_neighbors": "0",
            "innodb_flush_method": "nosync",
        },
        host={"storage": "hdd"},
        seconds=3,
        interval=1,
        fires=_OF_A_DISK,
        passes=_SETTINGS,
        severity={"flushing.flush-method-unsafe": "critical"},
        but=_NOT_THERE,
        quick=True,
    ),
    Scenario(
        name="full-log-on-a-full-disk",
        what="Flushing keeps to its small maximum while writers wait at a redo log that the disk has no room for",
        options=crawling,
        setup=table,
        load=hasty_inserts,
        warm_seconds=3,
        host={"free_disk_bytes": 32 << 20},
        fires=frozenset(
            {
                "flushing.flush-sync-off",
                "flushing.io-capacity-too-low",
                "flushing.dirty-pages-limit-reached",
                "flushing.dirty-pages-flushed-early",
                "flushing.adaptive-flushing-blind",
            }
        ),
        passes=_UNDER_LOAD | {"flushing.undo-log-not-truncated", "flushing.writes-delayed-by-purge-lag"},
        but={
            name: {
                **known,
                **(
                    {}
                    if name in ONE_CLEANER
                    else {"flushing.adaptive-flushing-blind": "Its adaptive flushing always sees the age."}
                ),
                **_KEEPS_UP.get(name, {}),
            }
            for name, known in _NOT_THERE.items()
        },
        alone=True,
    ),
    Scenario(
        name="bulk-load-into-a-small-pool",
        what="Rows are loaded faster than the page cleaner makes pages free, and hardly any are read",
        servers=("mysql-5.7.22", "mysql-8.0.33", "mariadb-10.2.11"),
        elsewhere="Their pages become free as fast as this load takes them, or it makes them read as well.",
        options={
            "innodb_buffer_pool_size": "128M",
            "loose_innodb_redo_log_capacity": "512M",
            "innodb_log_file_size": "256M",
            "innodb_flush_log_at_trx_commit": "0",
        },
        setup=table,
        load=hasty_inserts,
        warm_seconds=4,
        fires=frozenset({"flushing.free-page-waits"}),
        but={
            "mysql-5.7.22": {
                "flushing.free-page-waits": "On a fast device its page cleaner keeps up with the load in some runs."
            }
        },
        alone=True,
    ),
    Scenario(
        name="open-transaction-under-updates",
        what="A forgotten transaction keeps 100,000 old row versions from being purged",
        options=held_back,
        setup=table,
        load=open_transaction,
        seconds=5,
        interval=1,
        fires=frozenset({"flushing.history-list-growing", "flushing.undo-log-not-truncated"})
        | {"flushing.writes-delayed-by-purge-lag"},
        passes=frozenset({"flushing.purge-lag-limit-without-effect"}),
        but={
            name: {
                **known,
                **(
                    {"flushing.undo-log-not-truncated": "It has no undo tablespaces of its own."}
                    if name not in (*MYSQL_8, *NO_CHANGE_BUFFER)
                    else {}
                ),
            }
            for name, known in _NOT_THERE.items()
        },
        alone=True,
    ),
)
