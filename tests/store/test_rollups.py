"""Charts of long times are made of cells, and show exactly what the polls themselves would show."""

from __future__ import annotations

import random
from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pytest
from django.db import transaction

from advisor.mysql import series
from advisor.mysql.snapshot import Poll
from collector.models import DayTimes, Digest, OpenSample, Rollup, Server
from collector.store import Buckets, fast_tier, rollups, sealing, store
from collector.store import columns as codec
from collector.store.columns import UnreadableBlock

from .polls import HOUR, run_of_polls
from .test_embedded import server

__all__ = ["server"]

pytestmark = pytest.mark.django_db

HOURS = 34
NAMES = [series.LSN, series.PRESSURE, series.CHECKPOINT_AGE, "Innodb_counter_4", "Threads_running", "Slow_queries"]


def _eventful() -> list[tuple[int, Poll]]:
    """A day and a half with a hole, a restart, a FLUSH STATUS, polls without a value and a name that comes later."""
    found = []
    for index, (slot, poll) in enumerate(run_of_polls(HOURS * 120, spacing=30, counters=6)):
        values = dict(poll.values)
        if 700 < index < 940:
            continue
        if index > 2000:
            values["Slow_queries"] = 40 + index // 7 - (300 if index > 2500 else 0)
            if index > 2500:
                values["Uptime_since_flush_status"] = (index - 2500) * 30
        if index % 50 < 3:
            del values["Threads_running"]
        uptime = poll.uptime_seconds
        if index > 1500:
            uptime = 30 * (index - 1500)
            values[series.LSN] = int(values[series.LSN]) - 10_000_000_000
        found.append((slot, replace(poll, values=values, uptime_seconds=uptime)))
    return found


def _store(server: Server, polls: list[tuple[int, Poll]]) -> None:
    OpenSample.objects.bulk_create(
        OpenSample(server=server, slot=slot, payload=codec.pack_poll(poll)) for slot, poll in polls
    )


def _seal(server: Server, hours: range | list[int]) -> None:
    for hour in hours:
        sealing.seal(server.id, HOUR + 3600 * hour)


def _same(one: Buckets, other: Buckets) -> None:
    assert one.step_seconds == other.step_seconds
    assert one.at.tolist() == other.at.tolist()
    for name, told in one.series.items():
        for part in ("least", "greatest", "last"):
            assert np.array_equal(getattr(told, part), getattr(other.series[name], part), equal_nan=True), (name, part)


@pytest.mark.parametrize("seed", [1, 2])
def test_cells_give_the_very_least_greatest_and_last_of_the_polls(server: Server, seed: int) -> None:
    dice = random.Random(seed)
    ranges = [
        (dice.randrange(-4000, 3600 * 20), dice.randrange(3600, 3600 * 36), dice.choice([2, 5, 30, 110, 300]))
        for _ in range(25)
    ]
    with transaction.atomic():
        _store(server, _eventful())
        _seal(server, [*range(5, HOURS - 2), *range(4)])
        assert Rollup.objects.count() == 3

        def asked() -> list[Buckets]:
            return [
                store().buckets(server.id, NAMES, HOUR + start, HOUR + start + length, points)
                for start, length, points in [(-500, 3600 * HOURS, 300), (0, 90_000, 12), *ranges]
            ]

        of_cells = asked()
        assert sum(one.step_seconds >= 300 for one in of_cells) > 5
        Rollup.objects.filter(day_at__lt=HOUR + 3600).update(fine=b"", coarse=b"")
        of_both = asked()
        Rollup.objects.all().delete()
        of_polls = asked()
        for cells, both, polls in zip(of_cells, of_both, of_polls, strict=True):
            _same(cells, polls)
            _same(both, polls)


def test_a_long_range_reads_cells_and_only_the_polls_beside_them(server: Server) -> None:
    _store(server, run_of_polls(HOURS * 120, spacing=30, counters=6))
    _seal(server, range(HOURS - 1))
    read = []

    def remembered(server_id: str, names: tuple[str, ...], start: float, end: float) -> codec.Columns:
        read.append((start, end))
        return plain(server_id, names, start, end)

    plain = fast_tier.columns
    with patch.object(fast_tier, "columns", remembered):
        store().buckets(server.id, NAMES, HOUR + 1000, HOUR + HOURS * 3600, 100)
    assert read == [(HOUR + (HOURS - 1) * 3600 - 300, HOUR + HOURS * 3600)]


def test_a_range_that_begins_in_the_middle_of_a_cell_begins_with_it_and_no_point_lies_before(server: Server) -> None:
    _store(server, run_of_polls(240, spacing=30, counters=2))
    for sealed in (False, True):
        if sealed:
            _seal(server, range(2))
        found = store().buckets(server.id, [series.PRESSURE], HOUR + 1190, HOUR + 7200, 3)
        assert found.step_seconds == 3600
        assert found.at.tolist() == [(HOUR + 3570) * 1000, (HOUR + 7170) * 1000]
        pressures = [poll.values[series.PRESSURE] for _, poll in run_of_polls(240, spacing=30, counters=2)]
        assert found.series[series.PRESSURE].greatest[0] == max(pressures[:120])
    after_the_last = store().buckets(server.id, [series.PRESSURE], HOUR + 7195, HOUR + 90_000, 3)
    assert after_the_last.at.size == 0


def test_a_day_and_a_half_is_charted_from_a_damaged_rollup_too(server: Server) -> None:
    _store(server, run_of_polls(720, spacing=30, counters=2))
    _seal(server, range(6))
    good = store().buckets(server.id, [series.PRESSURE], HOUR, HOUR + 21_600, 5)
    Rollup.objects.update(coarse=b"damaged", fine=b"")
    _same(store().buckets(server.id, [series.PRESSURE], HOUR, HOUR + 21_600, 5), good)


def test_fine_cells_go_after_eight_days_and_all_cells_with_the_samples(server: Server) -> None:
    _store(server, run_of_polls(5))
    _seal(server, [0])
    day = Rollup.objects.get().day_at
    after = day + 86_400 + sealing.FINE_FOR_SECONDS
    assert sealing.thin_cells(after) == 0
    assert sealing.thin_cells(after + 1) == 1
    assert sealing.thin_cells(after + 1) == 0
    kept = Rollup.objects.get()
    assert not kept.fine
    assert kept.coarse
    assert store().delete_older_than(day + 86_400) == 2
    assert not Rollup.objects.exists()


def test_an_hour_that_is_added_again_takes_the_place_of_itself(server: Server) -> None:
    _store(server, run_of_polls(720, spacing=30, counters=2))
    _seal(server, [0])
    day = rollups.unpack(bytes(Rollup.objects.get().fine))
    assert rollups.added(day, day).first.tolist() == day.first.tolist()
    assert day.hours.tolist() == [HOUR]
    assert day.first.size == 12


def test_other_bytes_are_refused() -> None:
    with pytest.raises(UnreadableBlock, match="format"):
        rollups.unpack(b"\x09" + bytes(40))
    with pytest.raises(UnreadableBlock, match="damaged"):
        rollups.unpack(b"\x01" + bytes(40))


def test_the_pressure_of_days_is_told_from_their_sums_as_from_hours_and_from_polls(server: Server) -> None:
    _store(server, _eventful())
    _seal(server, [*range(5, HOURS), *range(4)])
    begin = DayTimes.objects.order_by("day_at")[1].day_at
    ranges = [(HOUR, HOUR + HOURS * 3600), (begin, begin + 86_400), (begin - 1000, begin + 90_000), (HOUR, HOUR + 9000)]
    of_days = [store().pressure_times(server.id, *one) for one in ranges]
    assert sum(DayTimes.objects.get(day_at=begin).data["histogram"]) > 50_000
    # One hour of the day was not sealed, and one lies in the hole.
    assert len(DayTimes.objects.get(day_at=begin).data["hours"]) == 22
    # What was sealed before there were sums has digests only.
    DayTimes.objects.all().delete()
    of_hours = [store().pressure_times(server.id, *one) for one in ranges]
    Digest.objects.all().delete()
    of_polls = [store().pressure_times(server.id, *one) for one in ranges]
    for days, hours, polls in zip(of_days, of_hours, of_polls, strict=True):
        for other in (hours, polls):
            assert days.histogram == pytest.approx(other.histogram, abs=0.1)
            assert days.above_async_seconds == pytest.approx(other.above_async_seconds, abs=0.1)
            assert days.at_limit_seconds == pytest.approx(other.at_limit_seconds, abs=0.1)
    server.delete()
    assert not DayTimes.objects.exists()
