"""What the system page shows: whether Tidemark itself is well, told from what it notes of itself.

Figures of the installation are for everyone who is signed in; of servers only those are named that the reader may see.
"""

from __future__ import annotations

import platform
import shutil
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser
from django.db import connection
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _

from advisor.teams import access
from advisor.web import system_problems
from advisor.web.system_problems import Problem, Standing
from collector import upkeep
from collector.models import Gap, ServerState, Shard, StoredInspection, UpkeepSample
from collector.schedule import AT_ONCE, LEASE_SECONDS, latest_start

DAY_SECONDS = 86_400
#: Lists end here and say how many there are.
MOST_SILENT, MOST_COSTS = 50, 10
#: The database's growth is told over this long, and what a server's history takes over the second one.
GROWTH_SECONDS, HISTORY_SECONDS = 7 * DAY_SECONDS, 6 * 3600


#: What is read of each server: with ten thousand of them the rest would cost more than the page.
_READ = (
    "fast_slot", "error", "error_since", "cost", "server__name", "server__host", "server__port", "server__socket",
    "server__fast_interval_seconds", "server__full_interval_seconds",
)  # fmt: skip


@dataclass(frozen=True)
class Cost:
    """What watching one server costs it each minute, as the last reading of each tier measured it."""

    server_id: str
    name: str
    statements: float
    rows: float
    size_bytes: float
    milliseconds: float
    history_bytes_per_day: float | None


@dataclass(frozen=True)
class Missed:
    """Polls that were not made in a day, by why."""

    why: str
    polls: int
    servers: int


@dataclass(frozen=True)
class Part:
    """A part of Tidemark: when it was last seen at work (None: never), and whether that is recent enough."""

    title: str
    does: str
    seen_at: datetime | None
    alive: bool


def read(user: AbstractBaseUser | AnonymousUser) -> dict[str, Any]:
    """Everything that the page prints. Asks the product database and, for a second at most, the broker."""
    now = timezone.now()
    at = now.timestamp()
    mine = access.servers_for(user).order_by()
    states = list(
        ServerState.objects.filter(server__enabled=True, server__in=mine.values("pk"))
        .select_related("server")
        .only(*_READ)
    )
    shards = list(Shard.objects.filter(servers__enabled=True).distinct().order_by("number"))
    overdue = [
        at - state.fast_slot
        for state in states
        if state.fast_slot != AT_ONCE and at > latest_start(state.fast_slot, state.server.fast_interval_seconds)
    ]
    seen = upkeep.last_seen()
    samples = list(UpkeepSample.objects.filter(hour_at__gte=at - GROWTH_SECONDS).order_by("hour_at"))
    late = [one for state in states if not state.error and (one := upkeep.late_of(state.cost)) is not None]
    free = shutil.disk_usage(settings.DATA).free if connection.vendor == "sqlite" and settings.DATA.exists() else None
    standing = Standing(
        servers=len(states),
        failing=sum(bool(state.error) for state in states),
        shards=len(shards),
        shards_held=sum(shard.lease_until > at for shard in shards),
        ticked_seconds_ago=_since(seen.get("tick"), at),
        kept_house_seconds_ago=_since(seen.get("housekeeping"), at),
        queue=upkeep.queue_depths(),
        late_p50_seconds=upkeep.quantile(late, 0.5),
        late_p99_seconds=upkeep.quantile(late, 0.99),
        shortest_interval_seconds=min((state.server.fast_interval_seconds for state in states), default=10),
        overdue=len(overdue),
        overdue_seconds=max(overdue, default=0.0),
        database_bytes=upkeep.database_bytes(),
        growth=upkeep.growth(samples),
        free_bytes=free,
    )
    problems = system_problems.of(standing)
    missed = _missed(states, at)
    silent = sorted((state for state in states if state.error), key=lambda state: state.error_since or now)
    return {
        "standing": standing,
        "problems": problems,
        "worst": problems[0] if problems else None,
        "severity": _severity(problems),
        "parts": _parts(seen, at),
        "workers": [(shard, shard.lease_until - at, _seen(shard.lease_until - LEASE_SECONDS)) for shard in shards],
        "silent": silent[:MOST_SILENT],
        "paused": access.servers_for(user).filter(enabled=False).count(),
        "missed": missed,
        "missed_polls": sum(one.polls for one in missed),
        "costs": _costs(states, _inspected(user), at),
        "samples": samples,
        "retention_days": settings.SAMPLE_RETENTION_DAYS,
        "version": settings.VERSION,
        "database": _database(),
        "python": platform.python_version(),
        "per_server_bytes": standing.growth.bytes_per_day / len(states) if standing.growth and states else None,
    }


def _severity(problems: list[Problem]) -> str:
    """The colour of the page's one line."""
    return problems[0].severity if problems else "calm"


def _since(seen: float | None, at: float) -> float | None:
    return None if seen is None else max(at - seen, 0.0)


def _seen(at: float) -> datetime | None:
    return datetime.fromtimestamp(at, UTC) if at > 0 else None


def _parts(seen: Mapping[str, float], at: float) -> list[Part]:
    """The parts that work by themselves, and when each was seen."""
    collecting, judging = _("Schedule and collecting"), _("Judging and housekeeping")
    known = (
        ("tick", collecting, _("hands out groups of servers every 5 s"), system_problems.TICK_SECONDS),
        ("housekeeping", judging, _("judges, seals hours, throws old samples away"), system_problems.HOUSE_SECONDS),
    )
    return [
        Part(title, does, _seen(seen.get(name, 0)), at - seen.get(name, 0) <= longest)
        for name, title, does, longest in known
    ]


def _missed(states: Iterable[ServerState], at: float) -> list[Missed]:
    """Polls that were due in the last day and were not made, by the reason that was noted, the most first."""
    intervals = {state.pk: state.server.fast_interval_seconds for state in states}
    polls: dict[str, float] = defaultdict(float)
    servers: dict[str, set[str]] = defaultdict(set)
    begun = at - DAY_SECONDS
    for server_id, started, ended, why in (
        Gap.objects.filter(Q(ended_at__gte=begun) | Q(ended_at=None))
        .values_list("server_id", "started_at", "ended_at", "why")
        .iterator()
    ):
        if server_id in intervals:
            length = (at if ended is None else ended) - max(started, begun)
            # Between two polls that were made lies one interval in which nothing was missed.
            polls[why] += max(length / intervals[server_id] - (ended is not None), 0)
            servers[why].add(server_id)
    found = [Missed(why, round(count), len(servers[why])) for why, count in polls.items() if round(count)]
    return sorted(found, key=lambda one: -one.polls)


def _costs(
    states: Iterable[ServerState], inspected: Mapping[str, Mapping[str, Any]], at: float
) -> list[tuple[Cost, Mapping[str, Any] | None]]:
    """The servers that watching costs most, each with what its last inspection cost, where there was one."""
    found = [cost for state in states if (cost := _cost(state)) is not None]
    found.sort(key=lambda one: (-one.milliseconds, one.name))
    top = found[:MOST_COSTS]
    sizes = upkeep.history_bytes_per_hour([one.server_id for one in top], at - HISTORY_SECONDS)
    return [
        (_with_history(one, sizes.get(one.server_id)), inspected.get(one.server_id))
        for one in top
    ]  # fmt: skip


def _with_history(cost: Cost, bytes_per_hour: float | None) -> Cost:
    day = None if bytes_per_hour is None else bytes_per_hour * 24
    return Cost(cost.server_id, cost.name, cost.statements, cost.rows, cost.size_bytes, cost.milliseconds, day)


def _cost(state: ServerState) -> Cost | None:
    """Both tiers together for a minute; None of a server that was never read."""
    known = state.cost if isinstance(state.cost, dict) else {}
    tiers = (("poll", state.server.fast_interval_seconds), ("snapshot", state.server.full_interval_seconds))
    total = dict.fromkeys(("statements", "rows", "bytes", "milliseconds"), 0.0)
    for name, interval in tiers:
        one = known.get(name)
        if isinstance(one, dict):
            for what in total:
                total[what] += float(one.get(what) or 0) * 60 / max(interval, 1)
    if not total["statements"]:
        return None
    return Cost(
        state.pk, state.server.name, total["statements"], total["rows"], total["bytes"], total["milliseconds"], None
    )


def _inspected(user: AbstractBaseUser | AnonymousUser) -> dict[str, dict[str, Any]]:
    """What the newest inspection of each server cost."""
    rows = StoredInspection.objects.filter(server__in=access.servers_for(user).order_by().values("pk"))
    return {
        row.server_id: row.cost
        for row in rows.only("server_id", "cost").order_by("taken_at", "pk")
        if isinstance(row.cost, dict) and row.cost
    }


def _database() -> str:
    """The product database and its version, as people call it."""
    if connection.vendor == "sqlite":
        return f"SQLite {'.'.join(str(part) for part in connection.Database.sqlite_version_info)}"  # type: ignore[attr-defined]
    name = "MariaDB" if getattr(connection, "mysql_is_mariadb", False) else "MySQL"
    return f"{name} {'.'.join(str(part) for part in connection.get_database_version())}"
