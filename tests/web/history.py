"""Hours of full snapshots for tests of the pages that compare moments: what a busy MariaDB server counts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from advisor.mysql.counters import FAST_STATUS_NAMES, Kind, kind
from advisor.mysql.snapshot import Poll, Snapshot
from collector import settings_history, snapshots
from collector.models import StoredSnapshot
from collector.numbers import number
from collector.store import store

RECORDED = Path(__file__).parents[1] / "recorded/mariadb-10.11-small-redo/last.json"
#: What the made-up load does per second, besides what each counter of the recorded server does by chance.
LOAD = {
    "Com_begin": 120.0, "Com_commit": 120.0, "Com_rollback": 0.4, "Com_select": 900.0, "Com_update": 240.0,
    "Questions": 1500.0, "Queries": 1500.0, "Handler_read_rnd_next": 60.0, "Handler_read_next": 42_000.0,
    "Handler_read_key": 5_000.0, "Innodb_buffer_pool_read_requests": 61_000.0, "Innodb_os_log_written": 2.4e6,
    "Bytes_sent": 1.9e6, "Bytes_received": 2.6e5, "Created_tmp_tables": 11.0, "Sort_rows": 800.0,
}  # fmt: skip


def recorded() -> Snapshot:
    return Snapshot.from_dict(json.loads(RECORDED.read_text(encoding="utf-8")))


def write(
    server: Any,
    *,
    end: float,
    hours: float,
    spacing: int = 120,
    changes: Mapping[float, Mapping[str, float]] | None = None,
    variables: Mapping[float, Mapping[str, str]] | None = None,
    restart_hours_ago: float | None = None,
    seed: int = 1,
    polled: bool = True,
) -> None:
    """Full snapshots up to ``end``. ``changes`` and ``variables``: {hours before the end: what holds from then on}."""
    dice = np.random.default_rng(seed)
    base = recorded()
    counted = {name: value for name, text in base.status.items() if (value := number(text)) is not None}
    rates = {name: 0.0 for name in counted if kind(name) is not Kind.GAUGE}
    moving = [name for name, value in counted.items() if name in rates and value > 1000]
    rates |= {name: float(dice.lognormal(2, 1.5)) for name in moving} | LOAD
    last = int(end) // spacing * spacing
    status = dict(counted)
    known: dict[str, str] = {}
    settings = dict(base.variables)
    uptime = 500_000
    count = int(hours * 3600 / spacing)
    for index in range(count + 1):
        at = last - (count - index) * spacing
        ago = (last - at) / 3600
        for since, changed in (changes or {}).items():
            if ago <= since:
                rates |= changed
        for since, chosen in (variables or {}).items():
            if ago <= since:
                settings |= chosen
        swing = float(dice.lognormal(0, 0.04))
        for name, rate in rates.items():
            status[name] = int(status.get(name, 0) + dice.poisson(rate * spacing * swing))
        status["Threads_running"] = int(dice.poisson(4)) + 1
        uptime += spacing
        if restart_hours_ago is not None and at <= last - restart_hours_ago * 3600 < at + spacing:
            uptime = spacing
            status |= dict.fromkeys(rates, 0)
        status |= {"Uptime": uptime, "Uptime_since_flush_status": uptime}
        if polled:
            fast = {name: status[name] for name in FAST_STATUS_NAMES if name in status}
            store().append(server.pk, at, Poll(float(at), float(at), uptime, fast, base.identity.fingerprint))
        if settings != known:
            known = dict(settings)
            _keep(server, at, _snapshot(base, at, uptime, status, settings))
        store().append_counters(server.pk, at, _snapshot(base, at, uptime, status, settings))
    _keep(server, last, _snapshot(base, last, uptime, status, settings))


def _keep(server: Any, at: int, snapshot: Snapshot) -> None:
    taken_at = datetime.fromtimestamp(at, UTC)
    settings_history.record(server_id=server.pk, slot=at, snapshot=snapshot, previous=None)
    row = {"taken_at": taken_at, "payload": snapshots.pack(snapshot)}
    StoredSnapshot.objects.update_or_create(server=server, slot=at, defaults=row)


def _snapshot(base: Snapshot, at: int, uptime: int, status: Mapping[str, Any], settings: Mapping[str, str]) -> Snapshot:
    texts = {**base.status, **{name: str(value) for name, value in status.items()}}
    return Snapshot(
        taken_at=float(at), server_clock=float(at), uptime_seconds=uptime, identity=base.identity,
        variables=dict(settings), status=texts, metrics=base.metrics,
    )  # fmt: skip
