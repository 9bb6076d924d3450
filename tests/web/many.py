"""Thousands of made-up servers with their fleet rows, skewed as fleets are: for the fleet page, its benchmark, and
looking at it.

No sample is stored: rows are written as the recommendations room would have written them, in bulk. For servers whose
pages can be opened, with history and recommendations, see ``tests.web.demo``.
"""

from __future__ import annotations

import math
import random
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from advisor.recommendations import fleet as rows
from advisor.recommendations import fleet_groups, headline
from advisor.recommendations.fleet_hours import HOUR, HOURS, hour_of, trouble_seconds
from advisor.recommendations.models import NO_END, FleetRow
from advisor.recommendations.vitals import Condition, Vitals
from collector.models import Server, ServerState, Shard
from collector.servers import SERVERS_PER_SHARD

#: Groups by how many servers they have: the first is larger than all others together.
_GROUPS = (
    ("orders", 120), ("ledger", 40), ("search", 13), ("users", 9), ("logs", 6), ("billing", 4), ("stock", 2.5),
    ("mail", 1.5), ("maps", 1), ("fraud", 0.6), ("lab", 0.3),
)  # fmt: skip
#: A group of its own that has as many servers in a small fleet as in a large one.
_RARE, _RARE_SERVERS = "archive", 3
_VERSIONS = (
    ("MySQL 8.0.36", "mysql", 34), ("MySQL 8.4.6", "mysql", 16), ("Percona Server 8.0.36", "mysql", 9),
    ("MySQL 5.7.44", "mysql", 5), ("MariaDB 10.11.9", "mariadb", 22), ("MariaDB 11.4.5", "mariadb", 14),
)  # fmt: skip
_ADVICE = (
    "The redo log is too small for this load",
    "innodb_io_capacity is far below what is flushed",
    "Dirty pages are held back by a low-water mark of 0",
    "The doublewrite buffer writes each page alone",
    "A commit waits for two fsyncs",
)
_TROUBLES = (
    "Access denied for the user tidemark. Check user, password and host.",
    "No route to the machine.",
    "The machine answers, but nothing listens on that port.",
)
_BATCH = 1_000


def fleet(
    team: Any,
    count: int,
    seed: int = 1,
    *,
    needing: float = 0.1,
    stale: float = 0.01,
    first: int = 0,
    now: datetime | None = None,
) -> list[Server]:
    """Registers ``count`` servers with their rows: ``needing`` of them in warning or critical, ``stale`` of them
    silent. Names are numbered from ``first`` on.
    """
    chance = random.Random(seed)
    at = now or timezone.now()
    shapes = [_shape(chance) for _ in range(24)]
    servers = [_server(team, number, chance) for number in range(first, first + count)]
    shards = max(math.ceil(count / SERVERS_PER_SHARD), 1)
    free = (Shard.objects.order_by("-number").values_list("number", flat=True).first() or 0) + 1
    made = Shard.objects.bulk_create([Shard(number=free + number) for number in range(shards)])
    for number, server in enumerate(servers):
        server.shard = made[number // SERVERS_PER_SHARD]
    Server.objects.bulk_create(servers, batch_size=_BATCH)
    ServerState.objects.bulk_create([ServerState(server=server) for server in servers], batch_size=_BATCH)
    FleetRow.objects.bulk_create(
        [_row(server, chance, shapes, at, needing, stale) for server in servers], batch_size=_BATCH
    )
    fleet_groups.fold()
    return servers


def _server(team: Any, number: int, chance: random.Random) -> Server:
    group = chance.choices([name for name, _ in _GROUPS], [weight for _, weight in _GROUPS])[0]
    if number < _RARE_SERVERS:
        group = _RARE
    tags = [group, "prod" if chance.random() < 0.85 else chance.choice(("test", "stage"))]
    if chance.random() < 0.5:
        tags.append(chance.choice(("eu", "us", "ap")))
    name = f"{group}-db-{number:05d}"
    return Server(
        team=team, name=name, folded=name, host=f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}",
        user="tidemark", tags=tags, tls_mode="insecure" if chance.random() < 0.02 else "verify-identity",
    )  # fmt: skip


def _shape(chance: random.Random) -> list[float]:
    """A day's wave of load between 0 and 1, 48 values, some with a hole or a fall."""
    phase, fall = chance.uniform(0, 6), chance.random() < 0.15
    line = [0.7 + 0.2 * math.sin(phase + place / 9) + chance.uniform(-0.05, 0.05) for place in range(48)]
    return [value * (0.3 if fall and place > 43 else 1) for place, value in enumerate(line)]


def _row(
    server: Server, chance: random.Random, shapes: list[list[float]], at: datetime, needing: float, stale: float
) -> FleetRow:
    version, flavor, _ = chance.choices(_VERSIONS, [weight for _, _, weight in _VERSIONS])[0]
    lot = chance.random()
    measured, advised = _state(chance, lot, needing, stale)
    pressure = _pressure(chance, measured)
    # Few servers do most of the work.
    transactions = min(chance.paretovariate(1.1) * 40, 40_000.0)
    shape = chance.choice(shapes)
    since = at - timedelta(seconds=min(chance.paretovariate(0.7) * 120, 7 * 86_400))
    hours = _hours(chance, at, pressure, measured, shape)
    newest = at - timedelta(hours=chance.uniform(0.1, 30)) if measured is Condition.STALE else at - timedelta(seconds=4)
    row = FleetRow(
        server=server, team_id=server.team_id, version=version, flavor=flavor,
        role="replica" if chance.random() < 0.55 else "source", condition=measured.value, condition_since=since,
        pressure=None if chance.random() < 0.01 else pressure, async_ratio=0.93 if flavor == "mysql" else 0.875,
        headroom_seconds=_headroom(chance, measured), transactions_per_second=transactions,
        dirty_percent=min(chance.lognormvariate(2.2, 0.8), 92), redo_bytes_per_second=transactions * 9_000,
        sparkline=[round(transactions * value, 1) for value in shape], sparkline_at=at, hours=hours,
        hours_filled_at=hour_of(at.timestamp()), trouble_seconds=trouble_seconds(hours), newest_sample_at=newest,
        updated_at=at,
    )  # fmt: skip
    if advised:
        row.worst_severity, row.worst_title = advised, chance.choice(_ADVICE)
        row.worst_since, row.open_recommendations = since, chance.randint(1, 6)
    if measured is Condition.NEW:
        row.pressure = row.transactions_per_second = row.dirty_percent = None
        row.sparkline, row.hours, row.trouble_seconds, row.version, row.flavor = [], [], 0, "", ""
    row.headline = _headline(chance, row, measured)
    row.headroom_order = NO_END
    if row.headroom_seconds is not None and measured is not Condition.WARNING:
        row.headroom_order = row.headroom_seconds
    rows.settle(row, server, at)
    return row


def _state(chance: random.Random, lot: float, needing: float, stale: float) -> tuple[Condition, str]:
    """What is measured, and the severity of the worst recommendation."""
    if lot < needing:
        if chance.random() < 0.15:
            return Condition.CRITICAL, "critical"
        if chance.random() < 0.4:
            return Condition.WARNING, chance.choice(("", "warning"))
        return Condition.CALM, "critical" if chance.random() < 0.06 else "warning"
    if lot < needing + stale:
        return Condition.STALE, ""
    if lot > 0.997:
        return Condition.NEW, ""
    return (Condition.WATCH, "") if lot > 0.98 else (Condition.CALM, chance.choice(("", "", "notice")))


def _pressure(chance: random.Random, measured: Condition) -> float:
    if measured is Condition.CRITICAL:
        return chance.uniform(0.99, 1.06)
    if measured is Condition.WARNING:
        return chance.uniform(0.94, 0.985)
    return min(chance.lognormvariate(-1.4, 0.6), 0.85)


def _headroom(chance: random.Random, measured: Condition) -> float | None:
    if measured is Condition.CRITICAL:
        return 0.0
    if measured in (Condition.STALE, Condition.NEW) or chance.random() < 0.3:
        return None
    if measured is Condition.WARNING:
        return chance.uniform(20, 300)
    return chance.uniform(60, 880) if measured is Condition.WATCH else chance.lognormvariate(8.5, 1)


def _hours(
    chance: random.Random, at: datetime, pressure: float, measured: Condition, shape: list[float]
) -> list[list[float]]:
    newest = hour_of(at.timestamp())
    found: list[list[float]] = []
    for place in range(HOURS):
        highest = round(pressure * (0.45 + 0.55 * shape[place * 2]), 3)
        warning = critical = 0
        if measured in (Condition.CRITICAL, Condition.WARNING) and place >= HOURS - 1 - chance.randint(0, 3):
            highest, warning = round(pressure, 3), chance.randint(60, 1500)
            critical = chance.randint(30, 900) if measured is Condition.CRITICAL else 0
        elif chance.random() < 0.0005:
            highest, critical = 1.01, chance.randint(10, 300)
        found.append([newest - (HOURS - 1 - place) * HOUR, warning, critical, highest])
    return found


def _headline(chance: random.Random, row: FleetRow, measured: Condition) -> dict[str, Any]:
    at = row.newest_sample_at.timestamp() if row.newest_sample_at else 0.0
    vitals = Vitals(
        at=at, pressure=row.pressure, highest=row.pressure, async_ratio=row.async_ratio,
        headroom_seconds=row.headroom_seconds, waited=measured is Condition.CRITICAL, loaded=True,
        has_sync_point=row.flavor == "mysql", transactions_per_second=row.transactions_per_second,
        redo_bytes_per_second=row.redo_bytes_per_second, dirty_percent=row.dirty_percent,
    )  # fmt: skip
    return headline.sentence(
        measured, vitals=None if measured in (Condition.STALE, Condition.NEW) else vitals,
        since=row.condition_since.timestamp() if row.condition_since else None, newest_sample_at=at,
        trouble=chance.choice(_TROUBLES) if measured is Condition.STALE else "",
    )  # fmt: skip
