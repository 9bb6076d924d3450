"""Made observations for the examples of rules: a server with the defaults of its version, under a load that one
line describes.

    scene("mariadb 10.11.18", {"innodb_log_file_size": 8 * MIB}, redo_per_second=2 * MIB, pressure=[1.0, 0.97, 1.0])

Polls are derived from status variables as the collector derives them, so that an example exercises the same arithmetic.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any

from advisor.engine.observation import HostFact, HostFacts, Observation
from advisor.engine.units import DAY, GIB, HOUR, MIB
from advisor.mysql import redo, series
from advisor.mysql.catalogue import CATALOGUE
from advisor.mysql.derived import derive
from advisor.mysql.digest import HourlyDigest
from advisor.mysql.inspection import ROWSETS, Inspection, Row
from advisor.mysql.rates import Interval, intervals
from advisor.mysql.snapshot import Identity, Metric, Number, Origin, Poll, ProbeResult, ProbeState, Snapshot
from advisor.mysql.values import as_printed
from advisor.mysql.version import ServerVersion, identify

#: An instant of no meaning: examples have no clock.
_BEGAN_AT = 1_800_000_000.0
_FIRST_LSN = 10 * GIB

_EVERYWHERE: Mapping[str, object] = {
    "innodb_page_size": 16384,
    "innodb_thread_concurrency": 0,
    "innodb_buffer_pool_size": 128 * MIB,
    "innodb_buffer_pool_chunk_size": 128 * MIB,
    "innodb_buffer_pool_instances": 1,
    "innodb_io_capacity": 200,
    "innodb_io_capacity_max": 2000,
    "innodb_max_dirty_pages_pct": "90.000000",
    "innodb_max_dirty_pages_pct_lwm": "10.000000",
    "innodb_adaptive_flushing": "ON",
    "innodb_adaptive_flushing_lwm": "10.000000",
    "innodb_flush_log_at_trx_commit": 1,
    "innodb_flush_sync": "ON",
    "innodb_lru_scan_depth": 1024,
    "innodb_log_buffer_size": 16 * MIB,
    "log_bin": "OFF",
    "sync_binlog": 1,
    "max_connections": 151,
    "read_only": "OFF",
    "performance_schema": "ON",
}


def server_named(text: str) -> ServerVersion:
    """``mysql 8.0.33``, ``mariadb 10.11.18`` or ``percona 8.4.3`` as a server would announce itself."""
    flavor, number = text.split()
    if flavor == "mariadb":
        return identify(f"{number}-MariaDB", "mariadb.org binary distribution")
    comment = "Percona Server (GPL)" if flavor == "percona" else "MySQL Community Server - GPL"
    return identify(number, comment)


@cache
def default_variables(server: ServerVersion) -> Mapping[str, str]:
    """Every variable whose default the catalogue knows on this version, and of those that depend on the machine the
    ones that rules read, as a small machine has them.
    """
    known = ((name, CATALOGUE.find(name, server)) for name in CATALOGUE.names(server))
    values: dict[str, object] = {
        name: one.default for name, one in known if one is not None and one.default is not None
    }
    values |= _EVERYWHERE
    if server.is_mariadb:
        values["sync_binlog"] = 0
        values["performance_schema"] = "OFF"
        values["innodb_max_dirty_pages_pct_lwm"] = "0.000000"
        if server.number >= (10, 5, 0):
            values |= {"innodb_log_file_size": 96 * MIB, "innodb_lru_scan_depth": 1536}
        else:
            values |= {"innodb_log_file_size": 48 * MIB, "innodb_log_files_in_group": 2}
            values["innodb_max_dirty_pages_pct"] = "75.000000"
        if server.number >= (10, 6, 0):
            for gone in ("innodb_thread_concurrency", "innodb_buffer_pool_instances"):
                del values[gone]
        if server.number >= (10, 8, 0):
            values["innodb_buffer_pool_chunk_size"] = 0
    else:
        if server.number >= (8, 0, 30):
            values["innodb_redo_log_capacity"] = 100 * MIB
        if server.number < (9, 0, 0):
            values |= {"innodb_log_file_size": 48 * MIB, "innodb_log_files_in_group": 2}
        if server.number < (8, 0, 0):
            values |= {"innodb_max_dirty_pages_pct": "75.000000", "innodb_max_dirty_pages_pct_lwm": "0.000000"}
        if server.number >= (8, 4, 0):
            values |= {"innodb_io_capacity": 10_000, "innodb_io_capacity_max": 20_000}
        if server.number >= (8, 0, 0):
            values |= {"log_bin": "ON", "innodb_dedicated_server": "OFF"}
    return MappingProxyType({name: _printed(value) for name, value in values.items()})


def _printed(value: object) -> str:
    return as_printed(value) if isinstance(value, int | float | str) else str(value)


def scene(
    named: str,
    variables: Mapping[str, object] | None = None,
    *,
    redo_per_second: float = 0.0,
    pressure: Sequence[float] = (),
    seconds: int = 60,
    every: int = 10,
    counters: Mapping[str, float] | None = None,
    gauges: Mapping[str, Number] | None = None,
    status: Mapping[str, object] | None = None,
    metrics: Mapping[str, Metric] | None = None,
    uptime_seconds: int = 30 * DAY,
    deliberate: bool = False,
    host: HostFacts | None = None,
    digests: Sequence[HourlyDigest] = (),
    today: str = "2026-11-01",
    role: str = "standalone",
    probes: Sequence[ProbeResult] = (),
    age_readable: bool = True,
    without: Sequence[str] = (),
    plugins: Mapping[str, str] | None = None,
    replication: Sequence[Mapping[str, str | None]] = (),
    performance_schema: Mapping[str, object] | None = None,
    origins: Mapping[str, str] | None = None,
    inspection: Inspection | None = None,
) -> Observation:
    """A server seen for ``seconds``, polled every ``every`` seconds.

    ``redo_per_second`` is how fast the log sequence number grows; ``pressure`` the checkpoint age as a share of its
    limit at each poll, repeated as often as needed. ``counters`` grow at these rates per second, ``gauges`` stand
    still; all of them are known between the first and the last poll as if full snapshots had been taken there, too.
    ``without`` names variables that this server does not show; ``origins`` maps variables to where they were set
    (compiled, option_file, persisted, runtime, command_line). ``age_readable`` False: neither status nor a privilege
    shows the log's positions (servers before 8.0.30 and 10.5).
    """
    made_of = dict(locals())
    server = server_named(named)
    settings = dict(default_variables(server)) | {key: _printed(value) for key, value in (variables or {}).items()}
    for name in without:
        settings.pop(name, None)
    shown = {key: value for key, value in (status or {}).items()}
    polls = [
        _poll(
            server,
            settings,
            index=index,
            every=every,
            uptime=uptime_seconds - seconds + index * every,
            redo_per_second=redo_per_second,
            pressure=pressure[index % len(pressure)] if pressure else 0.2,
            counters=counters or {},
            gauges={**(gauges or {}), **{key: float(str(value)) for key, value in shown.items() if _numeric(value)}},
            age_readable=age_readable,
        )
        for index in range(seconds // every + 1)
    ]
    last = polls[-1]
    snapshot = Snapshot(
        taken_at=last.at,
        server_clock=last.server_clock,
        uptime_seconds=last.uptime_seconds,
        identity=Identity("example", "example", 3306, server, role),
        variables={**settings, "version": server.text, "version_comment": "example"},
        status={
            **{key: _printed(value) for key, value in shown.items()},
            **{key: as_printed(value) for key, value in last.values.items() if key not in series.DERIVED},
        },
        origins={key: Origin(kind) for key, kind in (origins or {}).items()},
        metrics=dict(metrics or {}),
        performance_schema=dict(performance_schema or {}),
        replication=tuple(replication),
        plugins=dict(plugins or {}),
        derived={key: last.values[key] for key in series.DERIVED if key in last.values},
        probes=tuple(probes),
    )
    seen = Observation(
        snapshot=snapshot,
        intervals=tuple(one for one in intervals(polls) if isinstance(one, Interval)),
        counted=tuple(one for one in intervals(polls[:: max(1, len(polls) - 1)]) if isinstance(one, Interval)),
        inspection=inspection,
        digests=tuple(digests),
        host=host or HostFacts(),
        deliberate=deliberate,
        today=today,
    )
    object.__setattr__(seen, "_made_of", made_of)
    return seen


def arguments_of(seen: Observation) -> dict[str, Any]:
    """What ``scene`` was called with to make this observation: tests mix the arguments of examples.

    Raises ValueError for an observation that was not made by it.
    """
    made_of: dict[str, Any] | None = getattr(seen, "_made_of", None)
    if made_of is None:
        raise ValueError("this observation was not made by scene()")
    return made_of


def _numeric(value: object) -> bool:
    try:
        float(str(value))
    except ValueError:
        return False
    return True


def _poll(
    server: ServerVersion,
    settings: Mapping[str, str],
    *,
    index: int,
    every: int,
    uptime: int,
    redo_per_second: float,
    pressure: float,
    counters: Mapping[str, float],
    gauges: Mapping[str, Number],
    age_readable: bool,
) -> Poll:
    elapsed = index * every
    values: dict[str, Number] = {"Uptime": uptime, **gauges}
    values |= {key: round(1_000_000 + rate * elapsed) for key, rate in counters.items()}
    innodb_status = None
    if redo.has_redo_log(server):
        limit = redo.limits_in_force(server, settings, gauges).effective_sync_bytes
        lsn = int(_FIRST_LSN + redo_per_second * elapsed)
        checkpoint = lsn - round(limit * pressure)
        if server.is_mysql and server.number >= (8, 0, 30):
            values |= {"Innodb_redo_log_current_lsn": lsn, "Innodb_redo_log_checkpoint_lsn": checkpoint}
        elif server.is_mariadb and server.number >= (10, 5, 0):
            values |= {
                "Innodb_lsn_current": lsn,
                "Innodb_lsn_last_checkpoint": checkpoint,
                "Innodb_checkpoint_age": lsn - checkpoint,
                "Innodb_checkpoint_max_age": limit,
            }
        elif age_readable:
            innodb_status = f"Log sequence number {lsn}\nLast checkpoint at {checkpoint}\n"
    values |= derive(server, variables=settings, status=values, innodb_status=innodb_status)
    return Poll(at=_BEGAN_AT + elapsed, server_clock=_BEGAN_AT + elapsed, uptime_seconds=uptime, values=values)


def inspected(**rowsets: Sequence[Row]) -> Inspection:
    """An inspection that read these rows and nothing else: ``inspected(tables=[{"schema": "shop", ...}])``.

    Columns that are left out are None, as where a server tells NULL. Raises ValueError for a name or column that no
    inspection reads.
    """
    for name, rows in rowsets.items():
        columns = ROWSETS.get(name)
        if columns is None:
            raise ValueError(f"no inspection reads {name!r}")
        for row in rows:
            if unknown := set(row) - set(columns):
                raise ValueError(f"{name} has no column {sorted(unknown)}")
    return Inspection(
        taken_at=_BEGAN_AT,
        identity="example",
        rowsets={
            name: tuple({column: row.get(column) for column in ROWSETS[name]} for row in rows)
            for name, rows in rowsets.items()
        },
        probes=tuple(ProbeResult(name, ProbeState.OK, rows=len(rows)) for name, rows in rowsets.items()),
    )


def stated(
    *,
    memory_bytes: int | None = None,
    free_disk_bytes: int | None = None,
    storage: str | None = None,
    write_latency_microseconds: int | None = None,
    cpus: int | None = None,
) -> HostFacts:
    """Host facts that a person stated."""

    def fact(value: int | str | None) -> HostFact | None:
        return None if value is None else HostFact(value, "stated")

    return HostFacts(
        memory_bytes=fact(memory_bytes),
        cpus=fact(cpus),
        free_disk_bytes=fact(free_disk_bytes),
        storage=fact(storage),
        write_latency_microseconds=fact(write_latency_microseconds),
    )


def hours(
    count: int,
    *,
    redo_per_hour: int,
    pressure: float,
    capacity_bytes: int,
    at_limit_ratio: float = 0.0,
    pages_flushed_p95: float = 50.0,
    free_pages_ratio_min: float | None = None,
) -> tuple[HourlyDigest, ...]:
    """So many equal hours, as digests: the age at ``pressure`` all the time but for ``at_limit_ratio`` of it."""
    histogram = [0.0] * 30
    histogram[min(29, int(pressure / 0.05))] += HOUR * (1 - at_limit_ratio)
    histogram[20] += HOUR * at_limit_ratio
    return tuple(
        HourlyDigest(
            hour_at=int(_BEGAN_AT) - (count - index) * HOUR,
            seconds=float(HOUR),
            redo_written_bytes=redo_per_hour,
            busiest_minute_bytes=2 * redo_per_hour // 60,
            pressure_histogram=tuple(histogram),
            seconds_above_async=HOUR * at_limit_ratio,
            seconds_at_limit=HOUR * at_limit_ratio,
            pages_flushed_median=pages_flushed_p95 / 2,
            pages_flushed_p95=pages_flushed_p95,
            capacity_bytes=capacity_bytes,
            free_pages_ratio_min=free_pages_ratio_min,
        )
        for index in range(count)
    )
