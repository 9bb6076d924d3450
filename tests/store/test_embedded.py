"""The embedded store on a real product database: what is appended, sealed, asked for and thrown away."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from typing import cast

import pytest
from django.db import connection, transaction

from advisor.mysql import series
from advisor.mysql.rates import Interval, between
from advisor.mysql.snapshot import Poll
from advisor.teams.models import Team
from collector.models import Digest, Gap, OpenSample, SealedBlock, Server, Shard
from collector.store import SeriesKind, sealing, store
from collector.store.embedded import EmbeddedStore
from collector.store.interface import RecordedGap
from collector.store.rows import SEAL_AFTER_SECONDS

from .polls import HOUR, run_of_polls

pytestmark = pytest.mark.django_db


@pytest.fixture
def server() -> Server:
    team, _ = Team.objects.get_or_create(name="store team", defaults={"folded": "store team"})
    shard, _ = Shard.objects.get_or_create(number=7)
    return Server.objects.create(team=team, name="s", folded="s", host="127.0.0.1", user="u", shard=shard)


@pytest.fixture
def kept() -> EmbeddedStore:
    return cast(EmbeddedStore, store())


def _fill(kept: EmbeddedStore, server: Server, polls: list[tuple[int, Poll]]) -> None:
    with transaction.atomic():
        for slot, poll in polls:
            assert kept.append(server.id, slot, poll)


def test_a_slot_is_written_once_and_keeps_its_first_values(server: Server, kept: EmbeddedStore) -> None:
    ((slot, poll),) = run_of_polls(1)
    assert kept.append(server.id, slot, poll)
    assert not kept.append(server.id, slot, replace(poll, values={"Questions": 1}))
    assert kept.latest(server.id) == poll
    assert OpenSample.objects.filter(server=server).count() == 1


def test_a_late_poll_for_a_sealed_hour_changes_nothing(server: Server, kept: EmbeddedStore) -> None:
    _fill(kept, server, run_of_polls(5))
    kept.seal(server.id, HOUR)
    late = Poll(HOUR + 1000.0, HOUR + 1000.0, 6000, {"Questions": 1})
    assert not kept.append(server.id, HOUR + 1000, late)
    assert OpenSample.objects.filter(server=server).count() == 0


def test_sealing_changes_no_answer(server: Server, kept: EmbeddedStore) -> None:
    polls = run_of_polls(800)
    _fill(kept, server, polls)
    names = [series.CHECKPOINT_AGE, series.LSN, "Innodb_counter_4", "never_seen"]

    def answers() -> list[object]:
        asked = kept.buckets(server.id, names, HOUR - 500, HOUR + 9000, 300)
        return [
            [asked.points(name) for name in names],
            kept.intervals(server.id, HOUR + 100, HOUR + 5000),
            kept.latest(server.id),
        ]

    before = answers()
    hours = kept.to_seal(HOUR + 20_000)
    assert hours == [(server.id, HOUR), (server.id, HOUR + 3600), (server.id, HOUR + 7200)]
    assert [kept.seal(*hour) for hour in hours] == [360, 360, 80]
    assert kept.to_seal(HOUR + 20_000) == []
    assert kept.seal(server.id, HOUR) == 0
    assert OpenSample.objects.count() == 0
    assert answers() == before
    latest = kept.latest(server.id)
    assert latest == polls[-1][1]


def test_an_hour_is_left_open_while_a_poll_may_still_come(kept: EmbeddedStore, server: Server) -> None:
    _fill(kept, server, run_of_polls(5))
    assert kept.to_seal(HOUR + 3600 + SEAL_AFTER_SECONDS - 1) == []
    assert kept.to_seal(HOUR + 3600 + SEAL_AFTER_SECONDS) == [(server.id, HOUR)]


def test_a_sealing_that_fails_leaves_the_hour_as_it_was(
    server: Server, kept: EmbeddedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    _fill(kept, server, run_of_polls(20))

    def fail(*_: object) -> object:
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(sealing, "condense", fail)
        with pytest.raises(MemoryError):
            kept.seal(server.id, HOUR)
    assert (SealedBlock.objects.count(), Digest.objects.count(), OpenSample.objects.count()) == (0, 0, 20)
    assert kept.seal(server.id, HOUR) == 20
    assert (SealedBlock.objects.count(), Digest.objects.count(), OpenSample.objects.count()) == (1, 1, 0)


def test_rates_in_buckets_are_those_of_the_intervals(server: Server, kept: EmbeddedStore) -> None:
    polls = run_of_polls(100, start=HOUR + 3000)
    _fill(kept, server, polls)
    kept.seal(server.id, HOUR)
    asked = kept.buckets(server.id, [series.LSN], HOUR + 3100, HOUR + 3100 + 500, 60)
    assert asked.series[series.LSN].kind is SeriesKind.RATE
    assert asked.step_seconds == 10
    expected = []
    for (_, previous), (slot, current) in pairwise(polls):
        if HOUR + 3100 <= slot < HOUR + 3600:
            pair = between(previous, current)
            assert isinstance(pair, Interval)
            rate = pair.per_second(series.LSN)
            expected.append((slot * 1000, rate, rate, rate))
    assert asked.points(series.LSN) == expected


def test_a_restart_breaks_rates_and_not_gauges_and_nothing_is_negative(server: Server, kept: EmbeddedStore) -> None:
    first = run_of_polls(30)
    after = [
        (slot, replace(poll, uptime_seconds=index * 10 + 2, values={**poll.values, series.LSN: 5_000_000 + index}))
        for index, (slot, poll) in enumerate(run_of_polls(30, start=HOUR + 300))
    ]
    _fill(kept, server, first + after)
    asked = kept.buckets(server.id, [series.LSN, series.CHECKPOINT_AGE], HOUR, HOUR + 600, 61)
    at_restart = asked.at.tolist().index((HOUR + 300) * 1000)
    rate = asked.points(series.LSN)
    assert rate[at_restart] is None
    assert asked.points(series.CHECKPOINT_AGE)[at_restart] is not None
    assert [point for point in rate if point and point[1] < 0] == []
    assert sum(point is None for point in rate) == 2  # the first of all has no poll before it


def test_a_hole_breaks_the_line_once(server: Server, kept: EmbeddedStore) -> None:
    polls = [(slot, poll) for slot, poll in run_of_polls(120) if not HOUR + 300 <= slot < HOUR + 600]
    _fill(kept, server, polls)
    asked = kept.buckets(server.id, [series.CHECKPOINT_AGE, series.LSN], HOUR, HOUR + 1200, 400)
    points = asked.points(series.CHECKPOINT_AGE)
    assert [index for index, point in enumerate(points) if point is None] == [30]
    assert len(points) == 91
    assert asked.points(series.LSN)[31] is None, "no rate is told over five minutes that nobody saw"


def test_a_week_of_eighteen_series_has_at_most_the_points_asked_for(server: Server, kept: EmbeddedStore) -> None:
    polls = run_of_polls(2000, spacing=60)
    _fill(kept, server, polls)
    for hour in kept.to_seal(HOUR + 10**6, limit=1000):
        kept.seal(*hour)
    names = [f"Innodb_counter_{index}" for index in range(17)] + [series.PRESSURE]
    for points in (2, 3, 50, 1200):
        asked = kept.buckets(server.id, names, HOUR + 13, HOUR + 2000 * 60, points)
        assert 1 <= asked.at.size <= points
        pressure = [point for point in asked.points(series.PRESSURE) if point]
        inside = [poll.values[series.PRESSURE] for slot, poll in polls if slot >= HOUR + 13]
        assert max(point[2] for point in pressure) == max(inside)
        assert min(point[1] for point in pressure) == min(inside)
        assert pressure[-1][3] == inside[-1]


@pytest.mark.parametrize(("start", "end"), [(HOUR + 13, HOUR + 9000), (HOUR, HOUR + 7200), (HOUR + 4000, HOUR + 4700)])
def test_time_by_pressure_is_told_from_every_poll(server: Server, kept: EmbeddedStore, start: int, end: int) -> None:
    polls = run_of_polls(900)
    _fill(kept, server, polls)
    for hour in kept.to_seal(HOUR + 7600):
        kept.seal(*hour)
    assert SealedBlock.objects.count() == 2, "the range has sealed hours and open ones"
    asked = kept.pressure_times(server.id, start, end)
    spent = [0.0] * 31
    above = at_limit = 0.0
    for _slot, poll in (one for one in polls[1:] if start <= one[0] < end):
        pressure = float(poll.values[series.PRESSURE])
        spent[min(int(pressure / 0.05), 30)] += 10
        above += 10 * (poll.values[series.CHECKPOINT_AGE] >= poll.values[series.EFFECTIVE_ASYNC_POINT])
        at_limit += 10 * (pressure >= 0.99)
    assert asked.histogram == pytest.approx(spent)
    assert (asked.above_async_seconds, asked.at_limit_seconds) == pytest.approx((above, at_limit))
    assert 0 < at_limit < above < asked.seconds


def test_time_by_pressure_is_whole_with_holes_and_an_hour_that_was_not_sealed(
    server: Server, kept: EmbeddedStore
) -> None:
    polls = [one for one in run_of_polls(3600, spacing=10) if one[0] // 3600 % 2 == HOUR // 3600 % 2]
    _fill(kept, server, polls)
    for server_id, hour in kept.to_seal(HOUR + 10**6, limit=1000):
        if hour != HOUR + 4 * 3600:
            kept.seal(server_id, hour)
    assert kept.pressure_times(server.id, HOUR + 60, HOUR + 36_000).seconds == 5 * 3590 - 60 + 10


@pytest.mark.parametrize("damage", [b"\x63", b"", b"damaged", None])
def test_a_damaged_poll_takes_nothing_but_itself_away(
    server: Server, kept: EmbeddedStore, damage: bytes | None, caplog: pytest.LogCaptureFixture
) -> None:
    polls = run_of_polls(400)
    _fill(kept, server, polls)
    last = OpenSample.objects.get(server=server, slot=HOUR + 3590)
    last.payload = bytes(last.payload)[:-3] if damage is None else damage
    last.save()
    assert len(kept.intervals(server.id, HOUR, HOUR + 4000)) == 398
    assert len(kept.buckets(server.id, [series.PRESSURE], HOUR, HOUR + 4000, 4000).points(series.PRESSURE)) == 399
    assert kept.seal(server.id, HOUR + 3600) == 40, "the hour after it is sealed all the same"
    assert f"slot {HOUR + 3590} of {server.id}" in caplog.text


def test_a_damaged_block_takes_nothing_but_its_hour_away(server: Server, kept: EmbeddedStore) -> None:
    _fill(kept, server, run_of_polls(400))
    kept.seal(server.id, HOUR)
    SealedBlock.objects.update(payload=b"\x01damaged")
    assert len(kept.intervals(server.id, HOUR, HOUR + 4000)) == 39


def test_an_empty_range_has_no_points_and_no_intervals(server: Server, kept: EmbeddedStore) -> None:
    asked = kept.buckets(server.id, [series.LSN], HOUR, HOUR + 3600, 100)
    assert asked.points(series.LSN) == []
    assert kept.intervals(server.id, HOUR, HOUR + 3600) == []
    assert kept.latest(server.id) is None
    assert kept.digests(server.id, 0, HOUR * 2) == []
    assert kept.pressure_times(server.id, HOUR, HOUR + 3600).seconds == 0


def test_the_digest_says_what_the_hour_held(server: Server, kept: EmbeddedStore) -> None:
    polls = []
    for index in range(361):  # one poll before the hour, then the hour
        slot = HOUR - 10 + index * 10
        age = 90 if index > 300 else 40  # the last 60 polls stand at 0.9 of the limit, the rest at 0.4
        written = 1_000 * index + (50_000 if index >= 100 else 0)  # a burst of 50 kB in one interval
        values: dict[str, int | float] = {
            series.LSN: written,
            series.CHECKPOINT_AGE: age,
            series.EFFECTIVE_ASYNC_POINT: 75,
            series.PRESSURE: 1.0 if index > 350 else age / 100,
            series.CAPACITY: 8_388_608,
            "Innodb_buffer_pool_pages_flushed": index * 20,
            "Innodb_buffer_pool_pages_free": 500 - index,
            "Innodb_buffer_pool_pages_total": 1000,
        }
        polls.append((slot, Poll(float(slot), slot + 0.5, 900 + index * 10, values, "x")))
    _fill(kept, server, polls)
    kept.seal(server.id, HOUR - 3600)
    kept.seal(server.id, HOUR)
    (digest,) = kept.digests(server.id, HOUR, HOUR + 1)
    assert digest.hour_at == HOUR
    assert digest.seconds == 3600
    assert digest.redo_written_bytes == 360 * 1000 + 50_000
    assert digest.busiest_minute_bytes == 56_000
    assert math.isclose(sum(digest.pressure_histogram), 3600)
    assert (digest.pressure_histogram[8], digest.pressure_histogram[18], digest.pressure_histogram[20]) == (
        3000,
        500,
        100,
    )
    assert (digest.seconds_above_async, digest.seconds_at_limit) == (600, 100)
    assert (digest.pages_flushed_median, digest.pages_flushed_p95) == (2.0, 2.0)
    assert digest.capacity_bytes == 8_388_608
    assert digest.free_pages_ratio_min == 0.14


def test_old_samples_and_gaps_go_and_digests_stay(server: Server, kept: EmbeddedStore) -> None:
    _fill(kept, server, run_of_polls(720))
    for hour in kept.to_seal(HOUR + 10**6):
        kept.seal(*hour)
    Gap.objects.create(server=server, started_at=HOUR, ended_at=HOUR + 5, why="old")
    Gap.objects.create(server=server, started_at=HOUR, why="still open")
    # The hour's block, the gap, and the day's cells, since the day ends with the hour.
    assert kept.delete_older_than(HOUR + 3600) == 3
    assert [block.hour_at for block in SealedBlock.objects.all()] == [HOUR + 3600]
    assert kept.gaps(server.id, HOUR, HOUR + 10) == [RecordedGap(HOUR, None, "still open")]
    assert len(kept.digests(server.id, HOUR, HOUR + 7200)) == 2


def test_gaps_that_touch_the_range_are_told(server: Server, kept: EmbeddedStore) -> None:
    for start, end, why in (
        (0, 10, "before"),
        (5, 25, "into"),
        (22, 24, "inside"),
        (29, None, "open"),
        (30, 40, "after"),
    ):
        Gap.objects.create(server=server, started_at=start, ended_at=end, why=why)
    assert [gap.why for gap in kept.gaps(server.id, 20, 30)] == ["into", "inside", "open"]


def test_appending_outside_of_a_transaction_is_one_of_its_own(server: Server, kept: EmbeddedStore) -> None:
    ((slot, poll),) = run_of_polls(1)
    with transaction.atomic():
        kept.append(server.id, slot, poll)
        transaction.set_rollback(True)
    assert kept.latest(server.id) is None
    assert connection.connection is not None
