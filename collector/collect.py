"""Reading a server: everything (a snapshot), or the few numbers that charts and rules about harm need (a poll)."""

from __future__ import annotations

import time

from advisor.mysql.counters import enabled_counts
from advisor.mysql.derived import derive
from advisor.mysql.snapshot import Identity, Number, Poll, ProbeResult, ProbeState, Snapshot
from collector.connection import Connection
from collector.errors import Hostile, NotAServer, TargetError, TooSlow
from collector.numbers import number, numbers
from collector.plan import FastPlan, Second
from collector.probes import PROBES, Found
from collector.probes.innodb_status import positions
from collector.probes.probe import UNREADABLE

SNAPSHOT_SECONDS = 15.0
POLL_SECONDS = 8.0
#: Two hundred years: what a server tells beyond it is a negative number that it took for a positive one.
_LONGEST_UPTIME_SECONDS = 200 * 366 * 86_400


def read_snapshot(connection: Connection, *, deadline_seconds: float = SNAPSHOT_SECONDS) -> Snapshot:
    """Asks all probes. What one of them cannot tell stands in its report, with the remedy.

    Raises TargetError where there is nothing to report: before variables and status have been read. Once they were, a
    connection that breaks ends the collection, and the probes that were not asked any more are reported as failed.
    """
    found = Found(account=connection.account)
    reports: list[ProbeResult] = []
    lost: TargetError | None = None
    with connection.within(deadline_seconds):
        for probe in PROBES:
            if lost is not None:
                reports.append(ProbeResult(probe.name, ProbeState.FAILED, reason=f"Not asked: {lost.sentence}"))
                continue
            began = time.monotonic()
            try:
                reports.append(probe.run(connection, found))
                if found.version is None:
                    # The variables could not be read: which questions to ask of it cannot be known.
                    break
            except TargetError as error:
                if isinstance(error, Hostile) or not found.variables or not found.status:
                    # What asks for a file is believed nothing of what it said before.
                    raise
                lost = error
                elapsed = round((time.monotonic() - began) * 1000, 3)
                reports.append(ProbeResult(probe.name, ProbeState.FAILED, elapsed, reason=error.sentence))
    if not found.variables or not found.status:
        refused = next((report for report in reports if report.state is ProbeState.FAILED), None)
        raise NotAServer(
            "The server shows neither variables nor status"
            + (f": {refused.reason}" if refused is not None and refused.reason else ".")
        )
    try:
        return _snapshot(connection, found, reports)
    except UNREADABLE as error:
        raise _unreadable(connection, error) from error


def _unreadable(connection: Connection, error: Exception) -> NotAServer:
    return NotAServer(
        f"{connection.target.address} tells values that do not fit together ({type(error).__name__}).",
        "Check that a MySQL or MariaDB server answers there, not something in front of it.",
    )


def _snapshot(connection: Connection, found: Found, reports: list[ProbeResult]) -> Snapshot:
    status = numbers(found.status)
    taken_at = time.time() - (time.monotonic() - found.status_read_at)
    return Snapshot(
        taken_at=taken_at,
        server_clock=connection.server_clock(found.status_read_at),
        uptime_seconds=_uptime(connection, status.get("Uptime", 0)),
        identity=Identity(
            unique_id=found.variables.get("server_uuid") or found.variables.get("server_uid") or "",
            hostname=found.variables.get("hostname", ""),
            port=int(number(found.variables.get("port")) or 0),
            version=found.server,
            role=_role(found, reports),
        ),
        variables=found.variables,
        status=found.status,
        origins=found.origins,
        persisted=found.persisted,
        metrics=found.metrics,
        performance_schema=found.performance_schema,
        replication=tuple(found.replication),
        plugins=found.plugins,
        grants=tuple(found.grants),
        derived=derive(
            found.server,
            variables=found.variables,
            status=status,
            metrics=enabled_counts(found.metrics),
            innodb_status=found.innodb_status,
        ),
        probes=tuple(reports),
    )


def _uptime(connection: Connection, told: Number) -> int:
    """Whole seconds. Raises NotAServer for a time that no server can have been up."""
    if not 0 <= told <= _LONGEST_UPTIME_SECONDS:
        raise NotAServer(
            f"{connection.target.address} says that it is up for {told:g} seconds, which cannot be.",
            "Where the clock of its machine was set back below the server's start, restart the server.",
        )
    return int(told)


def _role(found: Found, reports: list[ProbeResult]) -> str:
    """A server that both has a source and feeds replicas is a replica: what it may do is decided above it."""
    if found.replication:
        return "replica"
    if found.replicas_attached:
        return "source"
    asked = any(report.name == "replication" and report.state is ProbeState.OK for report in reports)
    return "standalone" if asked and found.replicas_attached is not None else "unknown"


def read_poll(connection: Connection, plan: FastPlan, *, deadline_seconds: float = POLL_SECONDS) -> Poll:
    """The fast tier: one statement, and on some servers one more (``plan.second``).

    The server's own clock is not asked for: Uptime is whole seconds only, and another statement would double the
    poll. It
    is told by our monotonic clock from where the connection was made, which is exact to half of an answer's time and
    cannot be set back; ``rates.between`` holds it against Uptime, so that a restart or a jump is not overlooked.
    Raises TargetError.
    """
    with connection.within(deadline_seconds):
        began = time.monotonic()
        status = numbers(connection.query(plan.status_sql).pairs())
        ended = time.monotonic()
        read_at = (began + ended) / 2
        metrics: dict[str, Number] = {}
        innodb_status: str | None = None
        if plan.second is Second.METRICS:
            metrics = numbers(connection.query(plan.metrics_sql).pairs())
        elif plan.second is Second.INNODB_STATUS:
            innodb_status = positions(connection)
    if "Uptime" not in status:
        raise NotAServer(f"{connection.target.address} does not tell its uptime.")
    if ended - began > deadline_seconds:
        raise TooSlow(f"{connection.target.address} did not answer within {deadline_seconds:.0f} s.")
    try:
        derived = derive(
            plan.server, variables=plan.variables, status=status, metrics=metrics, innodb_status=innodb_status
        )
    except UNREADABLE as error:
        raise _unreadable(connection, error) from error
    return Poll(
        at=time.time() - (time.monotonic() - read_at),
        server_clock=connection.server_clock(read_at),
        uptime_seconds=_uptime(connection, status["Uptime"]),
        values={**status, **metrics, **derived},
        identity=plan.identity,
    )
