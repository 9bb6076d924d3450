"""A made-up fleet for tests of pages and for looking at them: servers with hours of history, judged by the real rules.

Polls are computed from a simple course of load (a day's wave, bursts, a stall) and pass through the same derivation,
store, judging and fleet row as polls of real servers.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from django.utils import timezone

from advisor.journal.services import record
from advisor.mysql.derived import derive
from advisor.mysql.snapshot import Identity, Poll, ProbeResult, ProbeState, Remedy, RemedyKind, Snapshot
from advisor.mysql.version import identify
from advisor.recommendations import fleet
from advisor.recommendations.judging import configuration_of, judge_server
from advisor.recommendations.models import Judgement
from collector import servers, snapshots
from collector.models import Gap, OpenSample, Server, ServerState, SettingsChange, StoredSnapshot
from collector.store import columns as codec
from collector.store import store

MIB, GIB = 1024**2, 1024**3


@dataclass(frozen=True)
class Course:
    """How one made-up server does: its version, settings, and load. Rates per second; ``ages`` is (low, high) of the
    limit.
    """

    name: str
    version: str
    comment: str
    tags: tuple[str, ...] = ()
    role: str = "source"
    variables: Mapping[str, str] = field(default_factory=dict)
    transactions: float = 300.0
    redo: float = 4.0 * MIB
    ages: tuple[float, float] = (0.3, 0.6)
    climbs: bool = False
    stall: bool = False
    metrics: bool = False
    grants_missing: bool = False
    silent_seconds: int = 0
    #: Shares of the time: without samples from the one to the other; restarted; (share, variables) changed meanwhile.
    gap: tuple[float, float] | None = None
    restart: float | None = None
    change: tuple[float, Mapping[str, str]] | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)


def _later(course: Course) -> Course:
    """The course with the variables that it has in the end."""
    if course.change is None:
        return course
    return replace(course, variables={**course.variables, **course.change[1]}, change=None)


#: Servers whose charts have something to say besides their load. Not part of the made-up fleet.
ODD: tuple[Course, ...] = (
    Course(
        "resized-01", "8.0.36", "MySQL Community Server - GPL", ("prod",),
        variables={"innodb_redo_log_capacity": str(256 * MIB), "innodb_io_capacity": "400"},
        transactions=500, redo=6.0 * MIB, ages=(0.4, 0.9), metrics=True,
        change=(0.55, {"innodb_redo_log_capacity": str(1 * GIB), "innodb_io_capacity": "1200"}),
    ),
    Course(
        "resized-maria-02", "10.11.6-MariaDB", "mariadb.org binary distribution", ("prod",),
        variables={"innodb_log_file_size": str(128 * MIB)}, transactions=350, redo=3.0 * MIB, ages=(0.5, 0.95),
        change=(0.4, {"innodb_log_file_size": str(512 * MIB)}), restart=0.7,
    ),
    Course(
        "holes-03", "8.0.36", "MySQL Community Server - GPL",
        variables={"innodb_redo_log_capacity": str(1 * GIB)}, transactions=300, redo=3.0 * MIB, metrics=True,
        gap=(0.35, 0.5), restart=0.75,
    ),
    Course(
        "closed-04", "10.11.6-MariaDB", "mariadb.org binary distribution", grants_missing=True,
        variables={"innodb_log_file_size": str(1 * GIB), "performance_schema": "OFF"}, transactions=120, redo=1.0 * MIB,
    ),
    Course(
        "old-05", "5.7.44-log", "MySQL Community Server (GPL)",
        variables={"innodb_log_file_size": str(256 * MIB), "innodb_max_dirty_pages_pct_lwm": "0.000000"},
        transactions=80, redo=0.8 * MIB, ages=(0.2, 0.5),
    ),
)  # fmt: skip

COURSES: tuple[Course, ...] = (
    Course(
        "orders-db-07", "8.0.36", "MySQL Community Server - GPL", ("prod", "orders"),
        variables={"innodb_redo_log_capacity": str(512 * MIB), "innodb_io_capacity": "200"},
        transactions=940, redo=14.0 * MIB, ages=(0.55, 1.02), climbs=True, stall=True, metrics=True,
        facts={"memory_bytes": 128 * GIB, "cpus": 32, "storage": "ssd"},
    ),
    Course(
        "ledger-31", "11.4.5-MariaDB", "MariaDB Server", ("prod", "ledger"),
        variables={"innodb_log_file_size": str(96 * MIB)},
        transactions=610, redo=5.2 * MIB, ages=(0.7, 0.985), climbs=True, facts={"memory_bytes": 64 * GIB, "cpus": 16},
    ),
    Course(
        "search-02", "8.0.36-28", "Percona Server (GPL), Release 28, Revision 47601f19", ("prod",),
        variables={"innodb_redo_log_capacity": str(8 * GIB)}, transactions=1200, redo=9.5 * MIB, ages=(0.2, 0.41),
    ),
    Course(
        "users-12", "10.11.6-MariaDB", "mariadb.org binary distribution", ("prod", "users"), role="replica",
        variables={"innodb_log_file_size": str(4 * GIB)}, transactions=220, redo=1.1 * MIB, ages=(0.1, 0.3),
        grants_missing=True,
    ),
    Course(
        "logs-90", "5.7.44-log", "MySQL Community Server (GPL)", ("archive",),
        variables={"innodb_log_file_size": str(1 * GIB)}, transactions=40, redo=0.4 * MIB, ages=(0.05, 0.2),
        silent_seconds=2 * 3600,
    ),
)  # fmt: skip

_VARIABLES = {
    "innodb_page_size": "16384",
    "innodb_thread_concurrency": "0",
    "innodb_log_files_in_group": "2",
    "innodb_max_dirty_pages_pct": "90.000000",
    "innodb_max_dirty_pages_pct_lwm": "10.000000",
    "innodb_io_capacity": "200",
    "innodb_io_capacity_max": "2000",
    "innodb_buffer_pool_size": str(4 * GIB),
    "innodb_flush_log_at_trx_commit": "1",
    "innodb_flush_method": "fsync",
    "innodb_adaptive_flushing": "ON",
    "sync_binlog": "1",
    "log_bin": "OFF",
    "innodb_log_buffer_size": str(16 * MIB),
    "performance_schema": "ON",
    "innodb_dedicated_server": "OFF",
    "innodb_log_file_size": str(48 * MIB),
}


def build(
    team: Any, *, hours: float = 6.0, courses: tuple[Course, ...] = COURSES, now: float | None = None
) -> list[Server]:
    """Registers the servers, writes their history up to ``now`` (unix seconds), judges them."""
    end = int(now if now is not None else time.time()) // 10 * 10
    return [_build_one(team, course, end, hours) for course in courses]


def _build_one(team: Any, course: Course, end: int, hours: float) -> Server:
    server = servers.add_server(
        team=team, name=course.name, host="127.0.0.1", port=3306 + len(course.name), user="tidemark", password="secret",
        tags=course.tags, host_facts=course.facts, unrestricted=True,
    )  # fmt: skip
    last = end - course.silent_seconds
    polls = _polls(course, last - int(hours * 3600), last)
    OpenSample.objects.bulk_create(
        [OpenSample(server=server, slot=int(poll.at), payload=codec.pack_poll(poll)) for poll in polls], batch_size=500
    )
    while due := store().to_seal(end):  # type: ignore[attr-defined]
        for server_id, hour in due:
            store().seal(server_id, hour)  # type: ignore[attr-defined]
    snapshot = _snapshot(_later(course), polls[-1])
    _tell(server, course, last - int(hours * 3600), last)
    StoredSnapshot.objects.create(
        server=server,
        slot=int(polls[-1].at),
        taken_at=datetime.fromtimestamp(last, UTC),
        payload=snapshots.pack(snapshot),
    )
    fleet.ensure_row(server=server)
    # What is configured now was so all along: else the window would begin with the snapshot.
    Judgement.objects.create(
        server=server, slot=0, judged_at=datetime.fromtimestamp(last, UTC), outcomes=[],
        configuration=configuration_of(snapshot), configured_at=polls[0].at,
    )  # fmt: skip
    judge_server(server_id=server.pk)
    fleet.refresh(server_id=server.pk, now=datetime.fromtimestamp(last + 5, UTC))
    if course.silent_seconds:
        ServerState.objects.filter(server=server).update(
            error="Access denied for the user tidemark. Check user, password and host.",
            error_kind="wrong-password",
            error_since=datetime.fromtimestamp(last, UTC),
        )
        Gap.objects.create(server=server, started_at=last, ended_at=None, why="access denied")
        fleet.mark_stale(now=timezone.now())
    return server


def _tell(server: Server, course: Course, start: int, end: int) -> None:
    """What the collector would have noted about the course: a restart, changed variables, a time without samples."""

    def at(share: float) -> datetime:
        return datetime.fromtimestamp(start + share * (end - start), UTC)

    def note(kind: str, when: datetime, data: dict[str, Any]) -> None:
        record(team_id=server.team_id, kind=kind, at=when, server_id=server.pk, data=data)

    if course.restart is not None:
        note("server.restarted", at(course.restart), {"uptime_seconds": 4})
    if course.change is not None:
        share, after = course.change
        changes = {name: [course.variables.get(name, _VARIABLES.get(name)), value] for name, value in after.items()}
        note("server.variables_changed", at(share), {"changes": changes, "count": len(changes), "source": "foreign"})
        SettingsChange.objects.create(server=server, at=int(at(share).timestamp()), changes=changes)
    if course.gap is not None:
        begun, ended = (at(share).timestamp() for share in course.gap)
        Gap.objects.create(server=server, started_at=begun, ended_at=ended, why="timed out")


def _version(course: Course) -> Any:
    return identify(course.version, course.comment)


def _settings(course: Course) -> dict[str, str]:
    return {**_VARIABLES, **course.variables, "version": course.version, "version_comment": course.comment}


def _polls(course: Course, start: int, end: int) -> list[Poll]:
    chance = random.Random(course.name)
    version, later = _version(course), _later(course)
    start_uptime, whole = start - 3_600_000, course
    lsn, transactions, flushed = 50.0 * GIB, 4_000_000.0, 9_000_000.0
    limit = _limit(course, lsn)
    reasons = {"adaptive": 6e6, "background": 5e5, "sync": 1e3, "neighbor": 2e5, "lru": 3e4}
    waits, polls, drift = 120, [], 0.0
    for at in range(start, end + 1, 10):
        done = (at - start) / max(end - start, 1)
        if whole.change is not None and done >= whole.change[0] and course is not later:
            course, limit = later, _limit(later, lsn)
        if whole.restart is not None and done >= whole.restart and start_uptime < start:
            # Counters begin again; the log's positions go on.
            start_uptime, transactions, flushed, waits = at - 4, 0.0, 0.0, 0
            reasons = dict.fromkeys(reasons, 0.0)
        if whole.gap is not None and whole.gap[0] <= done < whole.gap[1]:
            continue
        wave = 0.5 + 0.5 * math.sin(done * 17)
        drift = 0.9 * drift + 0.1 * chance.uniform(-1, 1)
        stalled = course.stall and done > 0.97
        work = (0.75 + 0.25 * wave + 0.1 * drift) * (0.36 if stalled else 1.0)
        lsn += course.redo * work * 10 * chance.uniform(0.93, 1.07)
        transactions += course.transactions * work * 10 * chance.uniform(0.97, 1.03)
        low, high = course.ages
        swing = 0.5 * wave + 0.22 * math.sin(done * 140) + 0.35 * drift
        share = low + (high - low) * min(
            max(0.55 * swing + (0.75 * (done - 0.75) * 4 if course.climbs and done > 0.75 else 0.0), 0.0), 0.97
        )
        if stalled:
            share = high - 0.03 * chance.random() ** 2
        age = max(share, 0.02) * limit
        pages = course.redo / 16384 * 0.9 * work * chance.uniform(0.9, 1.1)
        flushed += pages * 10
        for name, part in (("adaptive", 0.7), ("background", 0.05), ("neighbor", 0.15), ("lru", 0.02)):
            reasons[name] += pages * part * 10
        reasons["sync"] += pages * (2.2 if stalled else 0.0) * 10
        waits += 9 if stalled else 0
        status = _status(course, at, lsn, age, transactions, flushed, share, limit, end)
        metrics: dict[str, Any] = {}
        if course.metrics:
            metrics = {
                "buffer_flush_adaptive_total_pages": int(reasons["adaptive"]),
                "buffer_flush_background_total_pages": int(reasons["background"]),
                "buffer_flush_sync_total_pages": int(reasons["sync"]),
                "buffer_flush_neighbor_total_pages": int(reasons["neighbor"]),
                "buffer_LRU_batch_flush_total_pages": int(reasons["lru"]),
                "log_on_file_space_waits": waits,
            }
        values = {**status, **metrics, **derive(version, variables=_settings(course), status=status, metrics=metrics)}
        if start_uptime >= start:
            values["Uptime"] = at - start_uptime
        polls.append(Poll(float(at), float(at), at - start_uptime, values, identity=course.name))
    return polls


def _limit(course: Course, lsn: float) -> float:
    status = {**_positions(course, lsn, 1.0), **_pool(0.5)}
    if _version(course).is_mariadb:
        status |= {"Innodb_checkpoint_max_age": _maximum(course)}
    return float(derive(_version(course), variables=_settings(course), status=status)["redo_effective_sync_point"])


def _maximum(course: Course) -> int:
    capacity = (int(course.variables["innodb_log_file_size"]) - 12_288) * 9 // 10 - 48 * 16_384
    return capacity - capacity // 10


def _positions(course: Course, lsn: float, age: float) -> dict[str, int]:
    current, checkpoint = int(lsn), int(lsn - age)
    if _version(course).is_mariadb:
        return {
            "Innodb_lsn_current": current,
            "Innodb_lsn_last_checkpoint": checkpoint,
            "Innodb_checkpoint_age": int(age),
            "Innodb_checkpoint_max_age": _maximum(course),
        }
    if _version(course).number >= (8, 0, 30):
        return {
            "Innodb_redo_log_current_lsn": current,
            "Innodb_redo_log_checkpoint_lsn": checkpoint,
            "Innodb_redo_log_capacity_resized": int(course.variables["innodb_redo_log_capacity"]),
        }
    return {
        "Innodb_lsn_current": current,
        "Innodb_lsn_last_checkpoint": checkpoint,
        "Innodb_checkpoint_age": int(age),
    }


def _pool(share: float) -> dict[str, int]:
    total = 262_144
    return {
        "Innodb_buffer_pool_pages_total": total,
        "Innodb_buffer_pool_pages_data": int(total * 0.93),
        "Innodb_buffer_pool_pages_free": int(total * 0.06),
        "Innodb_buffer_pool_pages_dirty": int(total * min(0.08 + 0.6 * share, 0.88)),
    }


def _status(
    course: Course,
    at: int,
    lsn: float,
    age: float,
    transactions: float,
    flushed: float,
    share: float,
    limit: float,
    end: int,
) -> dict[str, Any]:
    return {
        "Uptime": 3_600_000 - (end - at),
        "Questions": int(transactions * 14),
        "Com_commit": int(transactions),
        "Com_begin": int(transactions),
        "Com_rollback": 12,
        "Com_insert": int(transactions * 1.1),
        "Com_update": int(transactions * 2.2),
        "Com_delete": int(transactions * 1.0),
        "Innodb_os_log_written": int(lsn),
        "Innodb_buffer_pool_pages_flushed": int(flushed),
        "Innodb_buffer_pool_read_requests": int(transactions * 400),
        "Innodb_buffer_pool_reads": int(transactions * 0.4),
        "Innodb_buffer_pool_wait_free": 0,
        "Innodb_log_waits": 0,
        **_pool(share),
        **_positions(course, lsn, age),
    }


def _snapshot(course: Course, poll: Poll) -> Snapshot:
    probes = [ProbeResult("status", ProbeState.OK, 1.2, 412), ProbeResult("variables", ProbeState.OK, 2.9, 640)]
    if course.grants_missing:
        remedy = Remedy(RemedyKind.GRANT, "innodb_metrics", "GRANT PROCESS ON *.* TO 'tidemark'@'%'")
        probes.append(ProbeResult("innodb_metrics", ProbeState.FAILED, 0.4, 0, "access denied", remedy))
    return Snapshot(
        taken_at=poll.at,
        server_clock=poll.server_clock,
        uptime_seconds=poll.uptime_seconds,
        identity=Identity(course.name, course.name, 3306, _version(course), course.role),
        variables=_settings(course),
        status={name: str(value) for name, value in poll.values.items()},
        probes=tuple(probes),
        derived={name: value for name, value in poll.values.items() if name.startswith("redo_")},
    )
