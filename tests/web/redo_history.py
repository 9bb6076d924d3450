"""A server whose history obeys InnoDB's own arithmetic, so that the model of the redo page has something to find."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import astuple, replace
from datetime import UTC, datetime
from functools import cache
from typing import Any

from advisor.mysql.derived import derive
from advisor.mysql.snapshot import Poll
from advisor.recommendations import fleet
from advisor.recommendations.judging import configuration_of, judge_server
from advisor.recommendations.models import Judgement
from collector import servers, snapshots
from collector.models import OpenSample, Server, StoredSnapshot
from collector.store import columns as codec
from collector.store import store
from tests.web import demo
from tests.whatif.emulated import MIB, MYSQL, Emulated, Reading


@cache
def _course(emulated: tuple[Any, ...], seconds: int, peak: float, step: int) -> list[Reading]:
    """Readings of so many seconds before instant 0: the same for every test that asks for the same server."""
    return Emulated(*emulated).run(seconds, busy_hours(peak), step=step, start=float(-seconds))


def busy_hours(peak: float) -> Callable[[float], float]:
    """Bytes of redo a second before instant 0: a wave over the day, highest at its end, two busy minutes an hour."""

    def wanted(at: float) -> float:
        wave = 0.55 + 0.35 * math.cos(at / 86_400 * 2 * math.pi)
        return peak * wave * (2.6 if 1800 <= at % 3600 < 1920 else 1.0)

    return wanted


def build(
    team: Any,
    *,
    name: str = "orders-db-11",
    hours: float = 3.0,
    capacity: int = 256 * MIB,
    peak: float = 3.0 * MIB,
    step: int = 5,
    hot_pages: int = 30_000,
    change_bytes: float = 2000.0,
    io_capacity: int = 200,
    version: str = "8.0.36",
    without: tuple[str, ...] = (),
    now: float | None = None,
) -> Server:
    """Registers the server, writes ``hours`` of polls up to ``now`` (unix seconds) and one snapshot, has it judged.

    ``without`` are status variables that this account may not see: prefixes of their names.
    """
    course = replace(
        demo.COURSES[0],
        name=name,
        version=version,
        variables={
            "innodb_redo_log_capacity": str(capacity),
            "innodb_io_capacity": str(io_capacity),
            "innodb_io_capacity_max": str(10 * io_capacity),
            "innodb_adaptive_flushing_lwm": "10",
        },
        metrics=False,
    )
    server = servers.add_server(
        team=team, name=name, host="127.0.0.1", port=3500 + len(name), user="tidemark", password="secret",
        tags=("prod",), host_facts={"storage": "ssd"}, unrestricted=True,
    )  # fmt: skip
    end = int(now if now is not None else time.time()) // 10 * 10
    start = end - int(hours * 3600)
    emulated = Emulated(
        capacity, io_capacity, 10 * io_capacity, hot_pages=hot_pages, change_bytes=change_bytes, pool_pages=65_536
    )
    readings = [replace(one, at=one.at + end) for one in _course(astuple(emulated), end - start, peak, step)]
    polls = [_poll(course, reading, start, without) for reading in readings]
    OpenSample.objects.bulk_create(
        [OpenSample(server=server, slot=int(poll.at), payload=codec.pack_poll(poll)) for poll in polls], batch_size=500
    )
    while due := store().to_seal(end):  # type: ignore[attr-defined]
        for server_id, hour in due:
            store().seal(server_id, hour)  # type: ignore[attr-defined]
    snapshot = demo._snapshot(course, polls[-1])
    StoredSnapshot.objects.create(
        server=server,
        slot=int(polls[-1].at),
        taken_at=datetime.fromtimestamp(polls[-1].at, UTC),
        payload=snapshots.pack(snapshot),
    )
    fleet.ensure_row(server=server)
    Judgement.objects.create(
        server=server, slot=0, judged_at=datetime.fromtimestamp(end, UTC), outcomes=[],
        configuration=configuration_of(snapshot), configured_at=polls[0].at,
    )  # fmt: skip
    judge_server(server_id=server.pk)
    fleet.refresh(server_id=server.pk, now=datetime.fromtimestamp(end + 5, UTC))
    return server


def _poll(course: demo.Course, one: Reading, start: int, without: tuple[str, ...]) -> Poll:
    transactions = 4_000_000 + (one.lsn - 1e9) / 15_000
    status = {
        "Uptime": 3_600_000 + int(one.at - start),
        "Questions": int(transactions * 14),
        "Connections": 100 + int(one.at - start),
        "Com_commit": int(transactions),
        "Com_begin": int(transactions),
        "Com_rollback": 12,
        "Innodb_os_log_written": int(one.lsn),
        "Innodb_buffer_pool_pages_flushed": int(one.flushed),
        "Innodb_buffer_pool_pages_total": 65_536,
        "Innodb_buffer_pool_pages_data": 60_000,
        "Innodb_buffer_pool_pages_free": 4_000,
        "Innodb_buffer_pool_pages_dirty": one.dirty,
        "Innodb_buffer_pool_wait_free": 0,
        "Innodb_log_waits": 0,
        "Innodb_redo_log_current_lsn": int(one.lsn),
        "Innodb_redo_log_checkpoint_lsn": int(one.lsn - one.age),
        "Innodb_redo_log_capacity_resized": one.capacity,
    }
    status = {key: value for key, value in status.items() if not key.startswith(without or ("\0",))}
    values = {**status, **derive(MYSQL, variables=demo._settings(course), status=status, metrics={})}
    return Poll(one.at, one.at, 3_600_000 + int(one.at - start), values, identity=course.name)
