"""The pool runs work side by side, and neither a failure nor a piece of work that hangs stops it from ending."""

from __future__ import annotations

import threading
import time

import pytest

from collector.threads import Pool


def test_work_that_waits_for_each_other_runs_side_by_side() -> None:
    pool, together = Pool("test", 3), threading.Barrier(3, timeout=5)
    met = []
    for number in range(3):
        pool.submit(lambda number=number: met.append((number, together.wait())))  # type: ignore[misc]
    deadline = time.monotonic() + 5
    while len(met) < 3 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert pool.close(5)
    assert sorted(number for number, _ in met) == [0, 1, 2]


def test_a_failure_is_logged_and_the_next_work_is_done(caplog: pytest.LogCaptureFixture) -> None:
    pool, done = Pool("test", 1), threading.Event()
    pool.submit(lambda: 1 / 0)  # type: ignore[arg-type]
    pool.submit(done.set)
    assert done.wait(5)
    assert pool.close(5)
    assert "division by zero" in caplog.text


def test_never_more_threads_than_allowed() -> None:
    pool, running, most, lock = Pool("test", 2), [0], [0], threading.Lock()
    ended = threading.Semaphore(0)

    def work() -> None:
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
        time.sleep(0.02)
        with lock:
            running[0] -= 1
        ended.release()

    for _ in range(10):
        pool.submit(work)
    for _ in range(10):
        assert ended.acquire(timeout=5)
    assert pool.close(5)
    assert most[0] == 2


def test_closing_does_not_wait_for_work_that_hangs_and_drops_what_has_not_begun() -> None:
    pool, hang, begun = Pool("test", 1), threading.Event(), []
    pool.submit(lambda: hang.wait(30))  # type: ignore[arg-type]
    time.sleep(0.05)
    pool.submit(lambda: begun.append(1))
    began = time.monotonic()
    assert not pool.close(0.2)
    assert time.monotonic() - began < 15
    hang.set()
    time.sleep(0.1)
    pool.submit(lambda: begun.append(2))
    assert begun == []
