"""History stays small: hours are sealed, old snapshots become one an hour, old samples go."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest

from collector import housekeeping
from collector.models import CounterBlock, Digest, OpenCounters, OpenSample, SealedBlock, Server, StoredSnapshot
from collector.store import store
from tests.store.polls import run_of_polls
from tests.store.snapshots import run_of_snapshots

pytestmark = pytest.mark.django_db

NOW = 1_800_000_000.0  # a full hour
HOUR = 3600


def _snapshot(server: Server, slot: float) -> None:
    StoredSnapshot.objects.create(
        server=server, slot=int(slot), taken_at=datetime.fromtimestamp(slot, UTC), payload=b"x"
    )


def test_snapshots_of_three_hours_stay_then_one_of_each_hour_then_none(watched: Server) -> None:
    for age in range(0, 6 * HOUR, 600):
        _snapshot(watched, NOW - age - 1)
    _snapshot(watched, NOW - 31 * 86_400)
    _snapshot(watched, NOW - 29 * 86_400)
    while housekeeping.thin_snapshots(NOW):
        pass
    ages = [NOW - slot for slot in StoredSnapshot.objects.order_by("-slot").values_list("slot", flat=True)]
    assert [age for age in ages if age <= 3 * HOUR] == [age + 1 for age in range(0, 3 * HOUR, 600)]
    older = [age for age in ages if age > 3 * HOUR]
    # The first one of each hour.
    assert older == [3 * HOUR + 3001, 4 * HOUR + 3001, 5 * HOUR + 3001, 29 * 86_400]


def test_one_round_removes_a_bounded_number(watched: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(housekeeping, "_BATCH", 10)
    for number in range(30):
        _snapshot(watched, NOW - 40 * 86_400 + number)
    assert housekeeping.thin_snapshots(NOW) <= 20
    assert StoredSnapshot.objects.count() >= 10


def test_closed_hours_are_sealed_and_a_damaged_one_does_not_hold_up_the_others(watched: Server) -> None:
    start = int(time.time()) // HOUR * HOUR - 3 * HOUR
    for slot, poll in run_of_polls(1080, start=start):
        store().append(watched.pk, slot, poll)
    OpenSample.objects.filter(slot=start).update(payload=b"\x63")
    housekeeping.keep_house()
    assert list(SealedBlock.objects.order_by("hour_at").values_list("hour_at", flat=True))[:1] == [start + HOUR]
    assert OpenSample.objects.filter(slot__lt=start + HOUR).count() == 360
    assert OpenSample.objects.filter(slot__gte=start + HOUR, slot__lt=start + 2 * HOUR).count() == 0


def test_counters_of_days_that_are_over_become_one_block_a_day(watched: Server) -> None:
    today = int(time.time()) // 86_400 * 86_400
    for slot, snapshot in run_of_snapshots(40, start=today - 2 * 86_400 + 80_000, spacing=600, counters=5):
        store().append_counters(watched.pk, slot, snapshot)
    housekeeping.keep_house()
    blocks = CounterBlock.objects.order_by("begins_at").values_list("begins_at", "seconds", "count")
    days = [block for block in blocks if block[1] == 86_400]
    assert days[0] == (today - 2 * 86_400, 86_400, 11)
    # Yesterday's hours are joined an hour after midnight, when its last one was sealed.
    assert sum(block[2] for block in blocks) == 40
    assert not OpenCounters.objects.exists()
    assert len(store().readings(watched.pk, today - 2 * 86_400, today)) == 40


def test_a_hundred_hours_that_cannot_be_sealed_hold_up_no_other_and_are_tried_once(
    watched: Server, caplog: pytest.LogCaptureFixture
) -> None:
    start = int(time.time()) // HOUR * HOUR - 110 * HOUR
    OpenSample.objects.bulk_create(
        OpenSample(server=watched, slot=start + number * HOUR, payload=b"\x63") for number in range(105)
    )
    good = start + 107 * HOUR
    for slot, poll in run_of_polls(10, start=good):
        store().append(watched.pk, slot, poll)
    housekeeping.keep_house()
    assert list(SealedBlock.objects.values_list("hour_at", flat=True)) == [good]
    assert caplog.text.count("could not be sealed") == 105
    housekeeping.keep_house()
    assert caplog.text.count("could not be sealed") == 105


def test_polls_that_were_never_sealed_and_digests_of_years_ago_go_too(watched: Server) -> None:
    old = int(time.time()) // HOUR * HOUR - 100 * 86_400
    OpenSample.objects.create(server=watched, slot=old, payload=b"\x63")
    for years in (1, 5):
        Digest.objects.create(server=watched, hour_at=old - years * 365 * 86_400, data={})
    housekeeping.keep_house()
    assert not OpenSample.objects.exists()
    assert list(Digest.objects.values_list("hour_at", flat=True)) == [old - 365 * 86_400]


def test_samples_older_than_the_retention_go(watched: Server, settings: pytest.FixtureRequest) -> None:
    settings.SAMPLE_RETENTION_DAYS = 2  # type: ignore[attr-defined]
    old = int(time.time()) // HOUR * HOUR - 3 * 86_400
    for start in (old, old + 2 * 86_400):
        for slot, poll in run_of_polls(10, start=start):
            store().append(watched.pk, slot, poll)
    housekeeping.keep_house()
    assert list(SealedBlock.objects.values_list("hour_at", flat=True)) == [old + 2 * 86_400]
