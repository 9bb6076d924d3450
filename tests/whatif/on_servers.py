"""A real server under a load that comes and goes, and its polls as the sizing model takes them."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from advisor.mysql import series
from advisor.mysql.derived import derive
from advisor.mysql.version import ServerVersion, identify
from advisor.whatif import history
from tests.servers import RunningServer
from tests.servers.load import beside

MIB = 1 << 20
ROW_BYTES, BATCH, WRITERS = 896, 50, 2
#: Redo per second, about; the load goes through these shares of it, ten seconds each.
REDO_PER_SECOND, COURSE = 4.0 * MIB, (0.6, 1.0, 1.5, 0.9)
#: A change of a row writes its old and its new form.
REDO_PER_ROW = 2.4 * ROW_BYTES


@dataclass(frozen=True)
class Poll:
    """One poll: its instant in seconds, the variables, and numbers by name as the product derives them."""

    at: float
    variables: Mapping[str, str]
    numbers: Mapping[str, float]

    @property
    def version(self) -> ServerVersion:
        return identify(self.variables["version"], self.variables["version_comment"], variables=self.variables)


def capacity_variable(name: str) -> str:
    """What holds the size of the redo log on that server, to be set at run time."""
    return "innodb_redo_log_capacity" if name.startswith("mysql") else "innodb_log_file_size"


def options_for(name: str, capacity_bytes: int) -> dict[str, str | None]:
    """A server with a log of that size that flushes by its age, and little else that could wait."""
    return {
        capacity_variable(name): str(capacity_bytes),
        "innodb_buffer_pool_size": "256M",
        "innodb_log_buffer_size": "8M",
        "innodb_flush_log_at_trx_commit": "2",
        "innodb_flushing_avg_loops": "10",
        "innodb_io_capacity": "200",
        "innodb_io_capacity_max": "2000",
        "innodb_monitor_enable": "log%",
        **({"skip_log_bin": None} if name.startswith("mysql") else {}),
    }


@contextmanager
def changing(server: RunningServer, *, rows: int) -> Iterator[None]:
    """Rows at random places change at a course of rates while the block runs."""
    connection = server.connect()
    cursor = connection.cursor()
    cursor.execute("CREATE DATABASE hot")
    cursor.execute("CREATE TABLE hot.t (id INT PRIMARY KEY, n INT NOT NULL, pad VARCHAR(1000) NOT NULL) ENGINE=InnoDB")
    for first in range(0, rows, 2000):
        values = ",".join(f"({i},0,REPEAT('a',{ROW_BYTES}))" for i in range(first, first + 2000))
        cursor.execute(f"INSERT INTO hot.t VALUES {values}")
    connection.close()
    began = time.monotonic()

    def work(cursor: Any, number: int, ended: threading.Event) -> None:
        dice, due = random.Random(number), time.monotonic()
        while not ended.is_set():
            places = ",".join(str(dice.randrange(rows)) for _ in range(BATCH))
            cursor.execute(
                f"UPDATE hot.t SET n = n + 1, pad = REPEAT(SHA2({dice.random()} + id, 256), 14) WHERE id IN ({places})"
            )
            share = COURSE[int((time.monotonic() - began) // 10) % len(COURSE)]
            pace = WRITERS * BATCH * REDO_PER_ROW / (REDO_PER_SECOND * share)
            due = max(due + pace, time.monotonic() - 0.5)
            ended.wait(max(0.0, due - time.monotonic()))

    with beside(server, work, threads=WRITERS):
        yield


def poll(server: RunningServer) -> Poll:
    """What a poll reads, with the variables of this instant: a resize may have moved them."""
    variables = {str(name): str(value) for name, value in server.sql("SHOW GLOBAL VARIABLES")}
    at = time.monotonic()
    status = {name: int(value) for name, value in server.status("Innodb%").items() if value.isdigit()}
    version = identify(variables["version"], variables["version_comment"], variables=variables)
    derived = derive(version, variables=variables, status=status, metrics={})
    return Poll(at, variables, {name: float(value) for name, value in {**status, **derived}.items()})


def watch(server: RunningServer, *, polls: int, every_seconds: float) -> list[Poll]:
    """So many polls, about so far apart."""
    found = []
    for _ in range(polls):
        found.append(poll(server))
        time.sleep(every_seconds)
    return found


def samples(polls: list[Poll]) -> history.Samples:
    """As the store gives them: rates over the time since the poll before, the first one unknown."""
    at = np.array([one.at for one in polls])

    def values(name: str) -> history.F64:
        return np.array([one.numbers[name] for one in polls])

    def rate(name: str) -> history.F64:
        return np.concatenate(([np.nan], np.diff(values(name)) / np.diff(at)))

    return history.Samples(
        at=at,
        written=rate(series.LSN),
        advanced=rate(series.CHECKPOINT_LSN),
        age=values(series.CHECKPOINT_AGE),
        limit=values(series.EFFECTIVE_SYNC_POINT),
        async_point=values(series.EFFECTIVE_ASYNC_POINT),
        capacity=values(series.CAPACITY),
        pages_flushed=rate("Innodb_buffer_pool_pages_flushed"),
        dirty_pages=values("Innodb_buffer_pool_pages_dirty"),
    )
