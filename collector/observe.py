"""Looking at one server for a while, on one connection, without any database or queue of ours."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from advisor.mysql.inspection import Inspection
from advisor.mysql.snapshot import Poll, Snapshot
from collector.collect import read_poll, read_snapshot
from collector.connection import Connection, Cost, connect
from collector.errors import TargetError
from collector.inspection import read_inspection
from collector.plan import FastPlan
from collector.target import Target

#: Told after each poll: seconds that have passed, seconds in all, the newest poll (None while the server is away).
Progress = Callable[[float, float, Poll | None], None]


@dataclass
class Observed:
    """A first snapshot, polls, a last snapshot, an inspection where one was asked for, and what they cost.

    ``connections`` counts what the servers saw, a look at the certificate beforehand included. ``remarks`` says in
    sentences what kept the observation from being whole (a restart, an interruption).
    """

    first: Snapshot
    last: Snapshot
    polls: list[Poll] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    started_at: float = 0.0
    ended_at: float = 0.0
    connections: int = 0
    cost: Cost = field(default_factory=Cost)
    inspection: Inspection | None = None

    @property
    def seconds(self) -> float:
        return self.ended_at - self.started_at


def observe(
    target: Target, *, seconds: float, interval: float, progress: Progress | None = None, inspect: bool = False
) -> Observed:
    """Reads a snapshot, polls every ``interval`` for ``seconds``, reads a snapshot again, all on one connection;
    ``inspect``: then also accounts, tables and statements, once, so that none of it falls into the observed time.

    A server that restarts meanwhile is connected to again once it answers, and the remarks say so. An interrupt
    (KeyboardInterrupt) ends the observation early with what there is. Raises TargetError where there is nothing at all.
    """
    idle = int(3 * interval + 30)
    connection = connect(target, idle_seconds=idle)
    opened = [connection]
    try:
        observed, current = _observe(connection, opened, seconds, interval, progress, idle)
        if inspect and current is not None and current.is_open:
            _inspect(current, observed)
        observed.cost = _sum(opened)
        return observed
    finally:
        for one in opened:
            one.close()


def instants(seconds: float, interval: float) -> list[float]:
    """When to poll, in seconds from the beginning: every interval, and at the very end, which is never a short step."""
    if seconds <= 0:
        return []
    steps = max(1, round(seconds / interval))
    return [number * interval for number in range(steps)] + [seconds]


def _observe(
    connection: Connection,
    opened: list[Connection],
    seconds: float,
    interval: float,
    progress: Progress | None,
    idle: int,
) -> tuple[Observed, Connection | None]:
    """What was observed, and the connection that is open at the end; None where there is none."""
    started_at, began = time.time(), time.monotonic()
    first = read_snapshot(connection)
    observed = Observed(first, first, started_at=started_at, connections=connection.dialled)
    plan = FastPlan.of(first)
    current: Connection | None = connection
    try:
        for instant in instants(seconds, interval):
            time.sleep(max(0.0, began + instant - time.monotonic()))
            current = _poll(current, opened, plan, observed, idle)
            if progress is not None:
                polled = observed.polls[-1] if current is not None and observed.polls else None
                progress(min(time.monotonic() - began, seconds), seconds, polled)
    except KeyboardInterrupt:
        observed.remarks.append(
            f"The observation was interrupted after {time.monotonic() - began:.0f} of {seconds:.0f} s: "
            "what follows rests on what was seen until then."
        )
    if current is not None and current.is_open:
        try:
            observed.last = read_snapshot(current)
        except TargetError as error:
            observed.remarks.append(f"The last snapshot could not be read, the first one is used. {error.sentence}")
    elif current is None:
        observed.remarks.append("The server did not come back before the observation ended.")
    observed.ended_at = time.time()
    return observed, current


def _inspect(connection: Connection, observed: Observed) -> None:
    try:
        observed.inspection = read_inspection(connection, observed.last)
    except TargetError as error:
        observed.remarks.append(f"Accounts, tables and statements could not be inspected. {error.sentence}")
    except KeyboardInterrupt:
        connection.close()
        observed.remarks.append("The inspection of accounts, tables and statements was interrupted.")


def _poll(
    current: Connection | None, opened: list[Connection], plan: FastPlan, observed: Observed, idle: int
) -> Connection | None:
    """Polls once, on a new connection if the old one was lost. None while the server does not answer."""
    if current is None:
        try:
            current = connect(opened[0].target, idle_seconds=idle, deadline_seconds=5)
        except TargetError:
            return None
        opened.append(current)
        observed.connections += current.dialled
        if not plan.fits(current):
            # After an upgrade or a fail-over the old plan would ask another server's questions.
            observed.remarks.append(
                "Another server or version answers now at this address: it was not polled any more."
            )
            with contextlib.suppress(TargetError):
                observed.last = read_snapshot(current)
            return current
    if observed.remarks and not plan.fits(current):
        return current
    try:
        observed.polls.append(read_poll(current, plan))
    except TargetError as error:
        if not current.is_open:
            observed.remarks.append(
                f"After {time.time() - observed.started_at:.0f} s the server was lost: {error.sentence} "
                "Rates are told for the time before and after, not across."
            )
            return None
        observed.remarks.append(f"One poll failed: {error.sentence}")
    return current


def _sum(opened: list[Connection]) -> Cost:
    total = Cost()
    for one in opened:
        cost = one.cost
        total = replace(
            total,
            statements=total.statements + cost.statements,
            rows=total.rows + cost.rows,
            size_bytes=total.size_bytes + cost.size_bytes,
            milliseconds=total.milliseconds + cost.milliseconds,
        )
    return total
