"""The full tier keeps every number of every snapshot, and answers the same however its hours and days are packed."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from django.db import transaction

from collector.models import CounterBlock, OpenCounters, Server
from collector.store import SampleStore, full_tier, store

from .polls import HOUR, run_of_polls
from .snapshots import run_of_snapshots
from .test_embedded import server

__all__ = ["server"]

pytestmark = pytest.mark.django_db

DAY = HOUR // 86_400 * 86_400


@pytest.fixture
def kept() -> SampleStore:
    return store()


def fill(server: Server, count: int, **options: Any) -> list[tuple[int, dict[str, float]]]:
    """Stores made-up snapshots; returns what each slot holds."""
    stored = []
    with transaction.atomic():
        for slot, snapshot in run_of_snapshots(count, **options):
            assert store().append_counters(server.id, slot, snapshot)
            stored.append((slot, dict(full_tier.counters_of(snapshot).values)))
    return stored


def test_every_number_comes_back_exactly_from_rows_hours_and_days(server: Server, kept: SampleStore) -> None:
    stored = fill(server, 200, start=DAY + 3000)

    def answers() -> list[Any]:
        found = kept.readings(server.id, DAY, DAY + 86_400)
        return [
            found.at.tolist(),
            found.seconds[1:].tolist(),
            {name: values.tolist() for name, values in found.values.items()},
            [kept.reading_at(server.id, slot + 5) for slot, _ in stored[::17]],
        ]

    open_rows = answers()
    assert open_rows[0] == [slot for slot, _ in stored]
    assert [dict(one.values) for one in open_rows[3] if one] == [values for _, values in stored[::17]]
    for server_id, hour in full_tier.to_seal(DAY + 90_000):
        full_tier.seal(server_id, hour)
    assert not OpenCounters.objects.exists()
    assert answers() == open_rows
    assert full_tier.days_to_join(DAY + 90_300) == [(server.id, DAY)]
    assert full_tier.join_day(server.id, DAY) == 200
    assert CounterBlock.objects.count() == 1
    assert answers() == open_rows
    assert full_tier.days_to_join(DAY + 90_300) == []


def test_a_day_waits_until_its_last_hour_can_have_been_sealed(server: Server) -> None:
    fill(server, 1, start=DAY + 86_000)
    full_tier.seal(server.id, DAY + 82_800)
    assert full_tier.days_to_join(DAY + 86_400 + 3899) == []
    assert full_tier.days_to_join(DAY + 86_400 + 3900) == [(server.id, DAY)]


def test_a_slot_is_written_once_and_never_into_a_sealed_time(server: Server, kept: SampleStore) -> None:
    ((slot, snapshot),) = run_of_snapshots(1, start=DAY + 3600)
    assert kept.append_counters(server.id, slot, snapshot)
    assert not kept.append_counters(server.id, slot, replace(snapshot, status={"Questions": "1"}))
    full_tier.seal(server.id, DAY + 3600)
    assert not kept.append_counters(server.id, slot + 60, snapshot)
    full_tier.join_day(server.id, DAY)
    assert not kept.append_counters(server.id, DAY + 80_000, snapshot)
    assert kept.append_counters(server.id, DAY + 86_400, snapshot)


def test_a_counter_that_no_poll_has_is_charted_per_second_beside_the_polls(server: Server, kept: SampleStore) -> None:
    fill(server, 60)
    with transaction.atomic():
        for slot, poll in run_of_polls(360):
            kept.append(server.id, slot, poll)
    names = ["Handler_made_up_4", "metrics.adaptive_hash_searches", "Threads_cached", "Threads_running", "nowhere"]
    found = kept.buckets(server.id, names, HOUR, HOUR + 3600, 300)
    assert found.step_seconds == 60
    assert [found.series[name].kind.value for name in names] == ["rate", "rate", "gauge", "gauge", "rate"]
    told = run_of_snapshots(60)
    before, after = (int(told[index][1].status["Handler_made_up_4"]) for index in (10, 11))
    assert found.series["Handler_made_up_4"].last[11] == (after - before) / 60
    grown = [snapshot.metrics["adaptive_hash_searches"].count for _, snapshot in told]
    assert found.series["metrics.adaptive_hash_searches"].greatest[1:].tolist() == [
        (now - then) / 60 for then, now in pairwise(grown)
    ]
    assert found.series["Threads_cached"].last.tolist() == [
        float(snapshot.status["Threads_cached"]) for _, snapshot in told
    ]
    assert not np.isnan(found.series["Threads_running"].last).any()
    assert found.points("nowhere") == [None] * 60


def test_a_restart_and_another_server_are_told_and_no_rate_crosses_them(server: Server, kept: SampleStore) -> None:
    fill(server, 5)
    fill(server, 5, start=HOUR + 300, uptime=20)
    for slot, snapshot in run_of_snapshots(5, start=HOUR + 600, uptime=900_000, identity="server-b"):
        kept.append_counters(server.id, slot, snapshot)
    found = kept.readings(server.id, HOUR, HOUR + 3600, ["Questions", "never"])
    assert found.restarts == (HOUR + 300.0, HOUR + 600.0)
    assert np.flatnonzero(np.isnan(found.seconds)).tolist() == [0, 5, 10]
    assert set(found.values) == {"Questions", "never"}
    assert np.isnan(found.values["never"]).all()
    rates = kept.buckets(server.id, ["Handler_made_up_5"], HOUR, HOUR + 3600, 300).points("Handler_made_up_5")
    assert [index for index, point in enumerate(rates) if point is None] == [0, 5, 10]
    assert all(point is None or point[1] >= 0 for point in rates)


def test_old_counters_go_and_a_server_takes_its_own_with_it(server: Server, kept: SampleStore) -> None:
    fill(server, 1, start=DAY + 3600)
    full_tier.seal(server.id, DAY + 3600)
    full_tier.join_day(server.id, DAY)
    fill(server, 1, start=DAY + 86_400)
    full_tier.seal(server.id, DAY + 86_400)
    fill(server, 1, start=DAY + 2 * 86_400)
    assert kept.delete_older_than(DAY + 86_399) == 0
    assert kept.delete_older_than(DAY + 86_400) == 1
    assert kept.delete_older_than(DAY + 86_400 + 3600) == 1
    server.delete()
    assert not OpenCounters.objects.exists()
    assert not CounterBlock.objects.exists()


def test_damaged_rows_are_left_out_and_the_others_are_read(server: Server, kept: SampleStore) -> None:
    fill(server, 3)
    OpenCounters.objects.filter(slot=HOUR + 60).update(payload=b"damaged")
    assert kept.readings(server.id, HOUR, HOUR + 3600).at.tolist() == [HOUR, HOUR + 120]
    reading = kept.reading_at(server.id, HOUR + 119)
    assert reading is not None
    assert reading.at == HOUR
    full_tier.seal(server.id, HOUR)
    CounterBlock.objects.update(payload=b"damaged")
    assert len(kept.readings(server.id, HOUR, HOUR + 3600)) == 0
    assert kept.reading_at(server.id, HOUR + 500) is None
