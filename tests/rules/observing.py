"""A plain observation of a real server for tests of rules: read with four statements, without the collector."""

from __future__ import annotations

import time
from dataclasses import replace

from advisor.engine.observation import Observation
from advisor.mysql.counters import FAST_METRIC_NAMES, enabled_counts, fast_status_names
from advisor.mysql.derived import derive
from advisor.mysql.rates import Interval, intervals
from advisor.mysql.snapshot import Identity, Metric, Number, Poll, Snapshot
from advisor.mysql.version import identify
from tests.servers import RunningServer


def snapshot_of(server: RunningServer) -> Snapshot:
    """Variables, status and innodb_metrics, as a full collection would hold them."""
    variables = {str(name): value or "" for name, value in server.sql("SHOW GLOBAL VARIABLES")}
    version = identify(variables["version"], variables.get("version_comment", ""), variables=variables)
    status = {str(name): value or "" for name, value in server.sql("SHOW GLOBAL STATUS")}
    state = "ENABLED" if version.is_mariadb and version.number >= (10, 5, 0) else "STATUS"
    rows = server.sql(f"SELECT NAME, SUBSYSTEM, {state}, COUNT FROM INFORMATION_SCHEMA.INNODB_METRICS")
    metrics = {
        str(name): Metric(str(subsystem), str(on).lower() in {"1", "enabled"}, int(count or 0))
        for name, subsystem, on, count in rows
    }
    clock = float(server.sql("SELECT UNIX_TIMESTAMP(NOW(6))")[0][0] or 0)
    return Snapshot(
        taken_at=time.time(),
        server_clock=clock,
        uptime_seconds=int(status["Uptime"]),
        identity=Identity(variables.get("server_uuid", ""), "recorded", 3306, version),
        variables=variables,
        status=status,
        metrics=metrics,
        derived=derive(
            version,
            variables=variables,
            status=_numbers(status),
            metrics=enabled_counts(metrics),
            innodb_status=_innodb_status(server),
        ),
    )


def poll_of(server: RunningServer, snapshot: Snapshot) -> Poll:
    """One fast poll: the counters of the fast tier and what is derived from them."""
    version = snapshot.identity.version
    status = _numbers({str(name): value or "" for name, value in server.sql("SHOW GLOBAL STATUS")})
    values: dict[str, Number] = {name: status[name] for name in fast_status_names(version) if name in status}
    enabled = [name for name in FAST_METRIC_NAMES if name in snapshot.metrics and snapshot.metrics[name].enabled]
    metrics: dict[str, Number] = {}
    if enabled:
        names = ", ".join(f"'{name}'" for name in enabled)
        rows = server.sql(f"SELECT NAME, COUNT FROM INFORMATION_SCHEMA.INNODB_METRICS WHERE NAME IN ({names})")
        metrics = {str(name): int(count or 0) for name, count in rows}
    derived = derive(
        version,
        variables=snapshot.variables,
        status=status,
        metrics=metrics,
        innodb_status=_innodb_status(server),
    )
    clock = float(server.sql("SELECT UNIX_TIMESTAMP(NOW(6))")[0][0] or 0)
    return Poll(time.time(), clock, int(status["Uptime"]), {**values, **metrics, **derived})


def observe(server: RunningServer, *, seconds: float = 20, every: float = 5, deliberate: bool = True) -> Observation:
    """The server, polled for a while as ``advise`` does it."""
    snapshot = snapshot_of(server)
    due = time.monotonic()
    polls = []
    for _ in range(int(seconds // every) + 1):
        time.sleep(max(0.0, due - time.monotonic()))
        polls.append(poll_of(server, snapshot))
        due += every
    return Observation(
        snapshot=replace(snapshot_of(server), taken_at=polls[-1].at),
        intervals=tuple(one for one in intervals(polls) if isinstance(one, Interval)),
        deliberate=deliberate,
        today="2026-11-21",
    )


def _numbers(status: dict[str, str]) -> dict[str, Number]:
    found: dict[str, Number] = {}
    for name, text in status.items():
        try:
            found[name] = int(text)
        except ValueError:
            try:
                found[name] = float(text)
            except ValueError:
                continue
    return found


def _innodb_status(server: RunningServer) -> str:
    return str(server.sql("SHOW ENGINE INNODB STATUS")[0][2])
