"""What is watched on the first server of several before the others follow, and what stops them.

Two windows of equal length, before and after the first server was changed, from the sample store. A guard is about harm
that anybody would stop for, not about whether the change helped: that is what verifying judges, with intervals.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from advisor.changes.applying import guards
from advisor.changes.applying import wording_around as around
from advisor.changes.applying.machine import Said
from advisor.changes.models import Application, ChangeRequest
from advisor.mysql import series
from advisor.mysql.rates import Interval
from collector.store import store


@dataclass(frozen=True)
class Thresholds:
    """All thresholds, in one place. A ratio is of the mean before; both it and the absolute least have to be passed."""

    #: Windows are at most this long, and a guard says nothing of less than three intervals.
    window_seconds: float = 1800.0
    least_intervals: int = 3
    #: Half of the transactions, where there were enough of them to tell.
    transactions_ratio: float = 0.5
    transactions_least: float = 1.0
    #: Clients that were cut off and logins that failed, a second.
    errors_ratio: float = 3.0
    errors_least: float = 0.2
    threads_running_ratio: float = 3.0
    threads_running_least: float = 16.0
    #: Average time of a row lock wait in milliseconds: the one latency that every server tells.
    latency_ratio: float = 3.0
    latency_least: float = 50.0
    #: Of the point at which writers wait.
    pressure_least: float = 0.95
    pressure_more: float = 0.10
    lag_seconds: int = 60
    lag_more_seconds: int = 30


THRESHOLDS = Thresholds()


@dataclass(frozen=True)
class Window:
    """What one server did in one time: means over the intervals; None where it is not known."""

    transactions: float | None
    errors: float | None
    threads_running: float | None
    row_lock_wait_milliseconds: float | None
    pressure: float | None
    lag_seconds: int | None = None


def why_stop(request: ChangeRequest, now: datetime) -> Said | None:
    """Why the servers after the first one are not changed; None where nothing speaks against it."""
    first = (
        Application.objects.filter(request=request, plan_id=request.plan_id, direction=Application.Direction.APPLY)
        .select_related("server")
        .order_by("position")
        .first()
    )
    if first is None or first.ended_at is None or first.started_at is None:
        return None
    length = min((now - first.ended_at).total_seconds(), THRESHOLDS.window_seconds)
    since, until = first.started_at.timestamp(), now.timestamp()
    before = _window(first.server_id, since - length, since, lag=_noted_lag(first))
    after = _window(first.server_id, until - length, until, lag=guards.lag_of(first.server))
    return None if before is None or after is None else judge(before, after)


def judge(before: Window, after: Window, limits: Thresholds = THRESHOLDS) -> Said | None:
    """The first guard that is broken, None where all hold. What is not known on either side breaks none."""
    t = limits
    if before.transactions is not None and after.transactions is not None:
        enough = before.transactions >= t.transactions_least
        if enough and after.transactions < before.transactions * t.transactions_ratio:
            return around.canary("canary-transactions", before.transactions, after.transactions)
    for kind, was, is_, ratio, least in (
        ("canary-errors", before.errors, after.errors, t.errors_ratio, t.errors_least),
        (
            "canary-threads",
            before.threads_running,
            after.threads_running,
            t.threads_running_ratio,
            t.threads_running_least,
        ),
        (
            "canary-latency",
            before.row_lock_wait_milliseconds,
            after.row_lock_wait_milliseconds,
            t.latency_ratio,
            t.latency_least,
        ),
    ):
        if was is not None and is_ is not None and is_ >= least and is_ > was * ratio:
            return around.canary(kind, was, is_)
    if after.pressure is not None and after.pressure >= t.pressure_least:
        if before.pressure is None or after.pressure - before.pressure >= t.pressure_more:
            return around.canary("canary-pressure", before.pressure or 0.0, after.pressure)
    if after.lag_seconds is not None and after.lag_seconds > t.lag_seconds:
        if after.lag_seconds - (before.lag_seconds or 0) > t.lag_more_seconds:
            return around.canary("canary-lag", before.lag_seconds or 0, after.lag_seconds)
    return None


def _window(server_id: str, start: float, end: float, *, lag: int | None) -> Window | None:
    intervals = store().intervals(server_id, start, end)
    if len(intervals) < THRESHOLDS.least_intervals:
        return None
    return Window(
        transactions=_mean(intervals, lambda one: one.per_second(series.TRANSACTIONS)),
        errors=_errors(server_id, start, end),
        threads_running=_mean(intervals, lambda one: one.last("Threads_running")),
        row_lock_wait_milliseconds=_lock_wait(intervals),
        pressure=_mean(intervals, lambda one: one.last(series.PRESSURE)),
        lag_seconds=lag,
    )


def _mean(intervals: Sequence[Interval], of: Callable[[Interval], float | None]) -> float | None:
    """The mean over the intervals that tell it, weighted by their length."""
    told = [(value, one.seconds) for one in intervals if (value := of(one)) is not None]
    seconds = sum(length for _, length in told)
    return sum(value * length for value, length in told) / seconds if seconds > 0 else None


def _lock_wait(intervals: Sequence[Interval]) -> float | None:
    waits = sum(one.delta("Innodb_row_lock_waits") or 0 for one in intervals)
    milliseconds = sum(one.delta("Innodb_row_lock_time") or 0 for one in intervals)
    return milliseconds / waits if waits > 0 else 0.0


def _errors(server_id: str, start: float, end: float) -> float | None:
    """Clients cut off and logins refused, a second: the full tier tells them. None over a restart."""
    names = ("Aborted_clients", "Aborted_connects")
    told = store().readings(server_id, start, end, names)
    if len(told) < 2 or told.restarts:
        return None
    seconds = float(told.server_clock[-1] - told.server_clock[0])
    more = sum(float(told.values[name][-1] - told.values[name][0]) for name in names)
    return more / seconds if seconds > 0 and more >= 0 else None


def _noted_lag(first: Application) -> int | None:
    """How far the first server was behind before it was changed, as the guards noted it."""
    told = first.guards.get("lag_seconds")
    return told if isinstance(told, int) else None
