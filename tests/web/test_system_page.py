"""Whether Tidemark is well: each fault makes one line with its next step, and a well one says so."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from django.test import Client

from advisor.web import system_problems
from advisor.web.system_problems import Standing
from collector import upkeep
from collector.models import Gap, Heartbeat, ServerState, Shard, UpkeepSample
from collector.upkeep import Growth

GIB = 1024**3
WELL = Standing(
    servers=10, failing=0, shards=2, shards_held=2, ticked_seconds_ago=4.0, kept_house_seconds_ago=31.0,
    queue={"collect": 0, "judge": 3}, late_p50_seconds=0.2, late_p99_seconds=0.9, shortest_interval_seconds=10,
    overdue=0, overdue_seconds=0.0, database_bytes=2 * GIB, growth=Growth(0.1 * GIB, 86_400), free_bytes=100 * GIB,
)  # fmt: skip


def test_a_well_tidemark_has_no_problem() -> None:
    assert system_problems.of(WELL) == []


@pytest.mark.parametrize(
    ("change", "severity", "words"),
    [
        ({"shards_held": 1}, "critical", "polled by nobody"),
        ({"overdue": 2, "overdue_seconds": 61.0}, "critical", "2 servers are overdue by up to 1 min 1 s"),
        ({"late_p99_seconds": 6.0}, "warning", "6 s after they were due: 60 % of the interval"),
        ({"late_p99_seconds": 12.0}, "critical", "120 % of the interval"),
        ({"ticked_seconds_ago": 300.0}, "warning", "The schedule is silent"),
        ({"ticked_seconds_ago": None}, "warning", "The schedule is silent"),
        ({"kept_house_seconds_ago": 3600.0}, "critical", "Nobody judges"),
        ({"queue": None}, "critical", "The broker does not answer"),
        ({"queue": {"collect": 0, "judge": 4000}}, "warning", "4,000 messages wait"),
        ({"failing": 1}, "warning", "1 server cannot be read"),
        ({"free_bytes": 2 * GIB}, "warning", "full in 20 d"),
        ({"free_bytes": GIB // 2}, "critical", "full in 5 d"),
    ],
)
def test_each_fault_is_one_line_with_a_next_step(change: dict[str, Any], severity: str, words: str) -> None:
    (problem,) = system_problems.of(replace(WELL, **change))
    assert problem.severity == severity
    assert words in problem.sentence
    assert problem.next_step.endswith((".", ")."))


def test_the_worst_comes_first() -> None:
    found = system_problems.of(replace(WELL, failing=1, queue=None))
    assert [one.severity for one in found] == ["critical", "warning"]


def test_nobody_is_alarmed_before_there_is_a_server() -> None:
    nothing = replace(
        WELL, servers=0, shards=0, shards_held=0, ticked_seconds_ago=None, kept_house_seconds_ago=None,
        late_p50_seconds=None, late_p99_seconds=None, growth=None, free_bytes=None,
    )  # fmt: skip
    assert system_problems.of(nothing) == []


@pytest.fixture
def well(watched: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """One server that is polled on time, everything seen just now."""
    now = time.time()
    monkeypatch.setattr(upkeep, "queue_depths", lambda timeout_seconds=1.0: {"collect": 0, "judge": 2})
    Shard.objects.update(owner="host/boot/ns/1/2", lease_until=now + 25)
    ServerState.objects.update_or_create(
        server=watched,
        defaults={
            "fast_slot": int(now) + 5,
            "cost": {
                "poll": {"statements": 1, "rows": 60, "bytes": 2000, "milliseconds": 0.5, "late_seconds": 0.4},
                "snapshot": {"statements": 7, "rows": 1200, "bytes": 60_000, "milliseconds": 9.0},
            },
        },
    )
    Heartbeat.objects.bulk_create([Heartbeat(name="tick", at=now - 3), Heartbeat(name="housekeeping", at=now - 40)])
    hour = int(now) // 3600 * 3600
    UpkeepSample.objects.create(hour_at=hour - 24 * 3600, servers=1, database_bytes=1024**2)
    UpkeepSample.objects.create(hour_at=hour, servers=1, database_bytes=3 * 1024**2)
    return watched


@pytest.mark.django_db
def test_a_well_system_says_so_with_its_figures(well: Any, owner: Any, sign_in: Callable[[Any], Client]) -> None:
    page = sign_in(owner).get("/system").content.decode()
    assert "All servers are polled on time, and judged." in page
    assert "<title>System · Tidemark</title>" in page
    assert "+2 MiB a day" in page
    assert "p99 0.4 s" in page
    # A poll each 10 s of 0.5 ms and a snapshot each 60 s of 9 ms.
    assert '<td class="number">12</td><td class="number">13</td><td class="number">1,560</td>' in page


@pytest.mark.django_db
def test_what_lies_is_the_one_red_line(well: Any, owner: Any, sign_in: Callable[[Any], Client]) -> None:
    Shard.objects.update(lease_until=1.0)
    ServerState.objects.update(
        failures=2, error="Access denied for the user tidemark. Check user, password and host.",
        error_since=datetime.now(UTC),
    )  # fmt: skip
    page = sign_in(owner).get("/system").content.decode()
    assert "<title>(2 ◆) System" in page
    assert 'class="banner critical"' in page
    assert "Some servers are polled by nobody" in page
    assert "Start a worker for the queue collect" in page
    assert "Access denied for the user tidemark. Check user, password and host." in page


@pytest.mark.django_db
def test_polls_that_were_missed_are_counted_by_why(well: Any, owner: Any, sign_in: Callable[[Any], Client]) -> None:
    now = time.time()
    Gap.objects.create(server=well, started_at=now - 3600, ended_at=now - 3540, why="No worker watched.")
    Gap.objects.create(server=well, started_at=now - 90_000, ended_at=now - 89_000, why="Long ago.")
    page = sign_in(owner).get("/system").content.decode()
    assert '<th scope="row" class="small">No worker watched.</th><td class="number">5</td>' in page
    assert "Long ago" not in page


@pytest.mark.django_db
def test_servers_of_other_teams_are_not_named(well: Any, outsider: Any, sign_in: Callable[[Any], Client]) -> None:
    assert "alpha" not in sign_in(outsider).get("/system").content.decode()
