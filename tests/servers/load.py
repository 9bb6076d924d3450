"""A bounded write load on a test server: a fixed set of rows of about 1 KiB, overwritten in batches and committed."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import Any

from .running import RunningServer

SCHEMA = "tidemark_load"
ROW_BYTES = 1000
BATCH_ROWS = 100


@dataclass
class WriteLoad:
    """What a load has done so far."""

    rows_written: int = 0
    commits: int = 0
    began_at: float = field(default_factory=time.monotonic)
    _ended: threading.Event = field(default_factory=threading.Event, repr=False)
    _failure: BaseException | None = field(default=None, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @property
    def row_bytes_written(self) -> int:
        """Bytes of row data; the redo written for them is about twice as much, since the old rows go to undo."""
        return self.rows_written * ROW_BYTES

    @property
    def running(self) -> bool:
        return not self._ended.is_set()

    def end(self) -> None:
        """Ask the threads to end after their present batch."""
        self._ended.set()

    def _count(self, rows: int) -> None:
        with self._lock:
            self.rows_written += rows
            self.commits += 1

    def _fail(self, failure: BaseException) -> None:
        with self._lock:
            self._failure = self._failure or failure
        self._ended.set()


def prepare(server: RunningServer, rows: int = 40_000) -> None:
    """Create and fill the table that the load works on. Repeatable; the rows are multiples of a batch."""
    connection = server.connect()
    try:
        cursor = connection.cursor()
        cursor.execute(f"CREATE DATABASE IF NOT EXISTS {SCHEMA}")
        cursor.execute(
            f"CREATE TABLE IF NOT EXISTS {SCHEMA}.t (id INT PRIMARY KEY, changed INT NOT NULL, "
            f"pad VARBINARY({ROW_BYTES}) NOT NULL, KEY (changed)) ENGINE=InnoDB"
        )
        cursor.execute(f"SELECT COUNT(*) FROM {SCHEMA}.t")
        present = int(cursor.fetchone()[0])
        for first in range(present, rows, BATCH_ROWS * 10):
            values = ",".join(
                f"({number},0,REPEAT('a',{ROW_BYTES}))" for number in range(first, min(first + BATCH_ROWS * 10, rows))
            )
            cursor.execute(f"INSERT INTO {SCHEMA}.t VALUES {values}")
    finally:
        connection.close()


@contextmanager
def write_load(
    server: RunningServer,
    *,
    seconds: float,
    threads: int = 2,
    bytes_per_second: float | None = None,
    rows: int = 40_000,
) -> Iterator[WriteLoad]:
    """Write for at most `seconds` while the block runs; the threads are gone when it ends.

    `bytes_per_second` bounds the row data written by all threads together (None: as fast as the server takes it).
    Filling the table happens before the block and does not count. A failing statement is raised at the block's end.
    """
    prepare(server, rows)
    load = WriteLoad()
    pace = None if bytes_per_second is None else BATCH_ROWS * ROW_BYTES * threads / bytes_per_second
    workers = [
        threading.Thread(target=_work, args=(server, load, number, threads, rows, seconds, pace), daemon=True)
        for number in range(threads)
    ]
    for worker in workers:
        worker.start()
    try:
        yield load
    finally:
        load.end()
        for worker in workers:
            worker.join(60)
    if load._failure is not None:
        raise load._failure


@contextmanager
def beside(
    server: RunningServer, work: Callable[[Any, int, threading.Event], None], *, threads: int = 2
) -> Iterator[None]:
    """Runs ``work(cursor, number, ended)`` in threads with a connection each while the block runs; it returns when
    ``ended`` is set. A failure is raised at the block's end.
    """
    ended = threading.Event()
    failures: list[BaseException] = []

    def run(number: int) -> None:
        try:
            with closing(server.connect()) as connection:
                work(connection.cursor(), number, ended)
        except Exception as failure:
            failures.append(failure)

    workers = [threading.Thread(target=run, args=(number,), daemon=True) for number in range(threads)]
    for worker in workers:
        worker.start()
    try:
        yield
    finally:
        ended.set()
        for worker in workers:
            worker.join(60)
    if failures:
        raise failures[0]


def run_write_load(
    server: RunningServer, *, seconds: float, threads: int = 2, bytes_per_second: float | None = None
) -> WriteLoad:
    """The same load, waited for."""
    with write_load(server, seconds=seconds, threads=threads, bytes_per_second=bytes_per_second) as load:
        load._ended.wait(seconds)
    return load


def _work(
    server: RunningServer, load: WriteLoad, number: int, threads: int, rows: int, seconds: float, pace: float | None
) -> None:
    """Overwrite this thread's share of the rows in batches, each its own transaction, in a scattered order."""
    try:
        connection: Any = server.connect()
    except Exception as failure:
        return load._fail(failure)
    batches = [first for first in range(0, rows, BATCH_ROWS) if first // BATCH_ROWS % threads == number]
    # A step without a common divisor visits every batch before it comes back to the first one.
    step = next(s for s in range(max(1, int(len(batches) * 0.618)), len(batches) + 2) if _coprime(s, len(batches)))
    try:
        cursor = connection.cursor()
        place, turn, due = 0, 0, time.monotonic()
        end = load.began_at + seconds
        while not load._ended.is_set() and time.monotonic() < end:
            turn += 1
            first = batches[place]
            place = (place + step) % len(batches)
            letter = chr(ord("a") + turn % 26)
            cursor.execute(
                f"UPDATE {SCHEMA}.t SET changed = changed + 1, pad = REPEAT('{letter}', {ROW_BYTES}) "
                f"WHERE id BETWEEN {first} AND {first + BATCH_ROWS - 1}"
            )
            load._count(cursor.rowcount)
            if pace is not None:
                due += pace
                load._ended.wait(max(0.0, due - time.monotonic()))
        load._ended.set()
    except Exception as failure:
        load._fail(failure)
    finally:
        connection.close()


def _coprime(a: int, b: int) -> bool:
    while b:
        a, b = b, a % b
    return a == 1
