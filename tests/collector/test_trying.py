"""Many connections tried side by side: bounded in number and time, each told by itself."""

from __future__ import annotations

import threading
import time

import pytest

from collector import trying
from collector.reports import ConnectionReport
from collector.target import Target


def target(port: int) -> Target:
    return Target(user="tidemark", host="127.0.0.1", port=port, unrestricted=True)


def test_no_more_are_open_at_once_than_allowed_and_all_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    lock, now, most = threading.Lock(), 0, 0

    def check(target: Target, **_: object) -> ConnectionReport:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        time.sleep(0.02)
        with lock:
            now -= 1
        return ConnectionReport(True, target.address, target.tls_mode)

    monkeypatch.setattr(trying, "check_connection", check)
    found = trying.try_all({number: target(number) for number in range(1, 31)}, at_once=4)
    assert {number: report.address for number, report in found.items()} == {
        number: f"127.0.0.1:{number}" for number in range(1, 31)
    }
    assert 1 < most <= 4


def test_who_does_not_answer_in_time_is_left_out_and_keeps_nobody_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    release = threading.Event()

    def check(target: Target, **_: object) -> ConnectionReport:
        if target.port > 1:
            release.wait(60)
        return ConnectionReport(True, target.address, target.tls_mode)

    monkeypatch.setattr(trying, "check_connection", check)
    began = time.monotonic()
    found = trying.try_all({number: target(number) for number in range(1, 9)}, seconds=0.3, at_once=2)
    # Whoever waited for one of them would be a minute later.
    assert time.monotonic() - began < 30
    assert list(found) == [1]
    release.set()


def test_a_port_where_nothing_listens_is_told_with_what_to_do() -> None:
    report = trying.try_all({7: target(1)})[7]
    assert report.failure is not None
    assert "Check the port" in report.failure.next_step
