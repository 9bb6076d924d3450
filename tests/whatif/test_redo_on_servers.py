"""The sizing model on real servers: what it says of a bigger log under one size, and what that log then does."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest

from advisor.mysql import redo, series
from advisor.mysql.derived import derive
from advisor.mysql.version import ServerVersion, identify
from advisor.whatif import history
from advisor.whatif.calibration import percentile
from advisor.whatif.flushing import FlushSettings
from advisor.whatif.redo import size_redo
from advisor.whatif.sizing import Candidate, CannotTell, Evidence, Objective, Why
from tests.servers import DISTRIBUTION_SERVER, RunningServer, start_server

MIB = 1 << 20
SMALL, LARGE = 64 * MIB, 192 * MIB
ROWS, ROW_BYTES, BATCH = 60_000, 896, 50
WARM_SECONDS, WATCHED_SECONDS, SETTLE_SECONDS = 30.0, 80.0, 30.0
#: Redo per second, about; the load goes through these shares of it, ten seconds each.
REDO_PER_SECOND, COURSE = 4.0 * MIB, (0.6, 1.0, 1.5, 0.9)
#: A change of a row writes its old and its new form.
REDO_PER_ROW = 2.4 * ROW_BYTES

pytestmark = pytest.mark.ci


@contextmanager
def changing(server: RunningServer) -> Iterator[None]:
    """Rows at random places change at a course of rates while the block runs."""
    connection = server.connect()
    cursor = connection.cursor()
    cursor.execute("CREATE DATABASE hot")
    cursor.execute("CREATE TABLE hot.t (id INT PRIMARY KEY, n INT NOT NULL, pad VARCHAR(1000) NOT NULL) ENGINE=InnoDB")
    for first in range(0, ROWS, 2000):
        rows = ",".join(f"({i},0,REPEAT('a',{ROW_BYTES}))" for i in range(first, first + 2000))
        cursor.execute(f"INSERT INTO hot.t VALUES {rows}")
    connection.close()
    ended, failures = threading.Event(), []
    began = time.monotonic()

    def work(number: int) -> None:
        try:
            mine = server.connect()
            hand, dice, due = mine.cursor(), random.Random(number), time.monotonic()
            while not ended.is_set():
                places = ",".join(str(dice.randrange(ROWS)) for _ in range(BATCH))
                hand.execute(
                    f"UPDATE hot.t SET n = n + 1, pad = REPEAT(SHA2({dice.random()} + id, 256), 14) "
                    f"WHERE id IN ({places})"
                )
                share = COURSE[int((time.monotonic() - began) // 10) % len(COURSE)]
                pace = 2 * BATCH * REDO_PER_ROW / (REDO_PER_SECOND * share)
                due = max(due + pace, time.monotonic() - 0.5)
                ended.wait(max(0.0, due - time.monotonic()))
            mine.close()
        except Exception as failure:
            failures.append(failure)

    workers = [threading.Thread(target=work, args=(number,), daemon=True) for number in range(2)]
    for worker in workers:
        worker.start()
    try:
        yield
    finally:
        ended.set()
        for worker in workers:
            worker.join(30)
    assert failures == []


def watch(server: RunningServer, seconds: float) -> tuple[history.Samples, dict[str, str], ServerVersion]:
    """Polls of two seconds, as the product derives them."""
    variables = {str(name): str(value) for name, value in server.sql("SHOW GLOBAL VARIABLES")}
    version = identify(variables["version"], variables["version_comment"], variables=variables)
    polls: list[dict[str, float]] = []
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        now = time.monotonic()
        status = {name: int(value) for name, value in server.status("Innodb%").items() if value.isdigit()}
        derived = derive(version, variables=variables, status=status, metrics={})
        polls.append({"at": now, **{name: float(value) for name, value in {**status, **derived}.items()}})
        time.sleep(2)
    at = np.array([poll["at"] for poll in polls])

    def values(name: str) -> history.F64:
        return np.array([poll[name] for poll in polls])

    def rate(name: str) -> history.F64:
        return np.concatenate(([np.nan], np.diff(values(name)) / np.diff(at)))

    samples = history.Samples(
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
    return samples, variables, version


@pytest.mark.parametrize("name", [DISTRIBUTION_SERVER, "mysql-9.7"])
def test_a_bigger_log_does_what_the_model_said_of_it(name: str, record_property: pytest.FixtureRequest) -> None:
    variable = "innodb_redo_log_capacity" if name.startswith("mysql") else "innodb_log_file_size"
    options: dict[str, str | None] = {
        variable: str(SMALL),
        "innodb_buffer_pool_size": "256M",
        "innodb_log_buffer_size": "8M",
        "innodb_flush_log_at_trx_commit": "2",
        "innodb_flushing_avg_loops": "10",
        "innodb_io_capacity": "200",
        "innodb_io_capacity_max": "2000",
        **({"skip_log_bin": None} if name.startswith("mysql") else {}),
    }
    with start_server(name, options=options) as server, changing(server):
        time.sleep(WARM_SECONDS)
        before, variables, version = watch(server, WATCHED_SECONDS)
        server.sql(f"SET GLOBAL {variable} = {LARGE}")
        time.sleep(SETTLE_SECONDS)
        after, _variables, _version = watch(server, WATCHED_SECONDS)
        pool = float(server.status("Innodb_buffer_pool_pages_total")["Innodb_buffer_pool_pages_total"])
    recorded = history.from_samples(before, start=before.at[0], end=before.at[-1])
    measured = history.from_samples(after, start=after.at[0], end=after.at[-1])
    assert measured.capacity_bytes == LARGE
    present, larger = (
        Candidate(size, redo.limits_in_force(version, variables, capacity_bytes=size)) for size in (SMALL, LARGE)
    )
    # A minute under a log of this size is a handful of saw-teeth: the back-test may be off by more than it may be on a
    # page, and the band is the wider for it.
    evidence = Evidence(loaded_seconds=WATCHED_SECONDS / 2, p95_error=0.3, mape=2.0)
    try:
        settings = FlushSettings.read(version, variables, pool)
        sizing = size_redo(recorded, settings, [present, larger], objective=Objective(), evidence=evidence)
    except CannotTell as reason:
        if reason.why is not Why.BACK_TEST:
            raise
        pytest.skip(f"This machine was too busy for an even load: the two halves differ by {reason.seen:.2f}.")
    predicted = sizing.sizes[-1].p95
    done = percentile(measured.known_shares(), 0.95)
    told = (
        f"{name}: {sizing.sizes[0].p95.high:.2f} with 64 MiB; with 192 MiB {predicted.low:.2f}-{predicted.high:.2f} "
        f"predicted, {done:.2f} measured; back-test {sizing.back_test.p95_error:.2f}, {sizing.back_test.mape:.2f}"
    )
    record_property("sizing", told)  # type: ignore[operator]
    print(told)  # noqa: T201 -- what docs/whatif.md quotes
    assert sizing.sizes[0].p95.high > 0.2, "the load did not fill the small log"
    assert predicted.low <= done <= predicted.high, told
