"""The arithmetic behind proposals: redo log, innodb_io_capacity, buffer pool."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.engine.facts.flushing import Flushing, IoCapacity
from advisor.engine.facts.redo import RedoLoad, RedoLog
from advisor.engine.io_sizing import IoThresholds, changes, raised_capacity, wanted_capacity
from advisor.engine.memory import MemoryNeed, MemoryThresholds, memory_need
from advisor.engine.outcome import Window
from advisor.engine.redo_sizing import (
    RedoThresholds,
    TooSmall,
    ceiling_bytes,
    recovery_seconds,
    target_bytes,
)
from advisor.engine.scene import scene
from advisor.engine.units import DAY, GIB, HOUR, KIB, MIB
from advisor.mysql import series

P = RedoThresholds()
WINDOW = Window(0, 60, 6)


def log(capacity_bytes: int, *, free_disk_bytes: int | None = None) -> RedoLog:
    seen = scene("mysql 8.0.33", {"innodb_redo_log_capacity": capacity_bytes})
    return replace(RedoLog.read(seen), free_disk_bytes=free_disk_bytes)


def load(mean: float, *, peak: float | None = None, observed: float = 60, hour: float | None = None) -> RedoLoad:
    return RedoLoad(WINDOW, mean, peak or mean, hour or mean * HOUR, hour is not None, observed)


def test_a_minute_sizes_for_ten_minutes_of_the_peak_below_the_async_point() -> None:
    assert target_bytes(log(8 * MIB), load(2 * MIB), TooSmall.PROVEN, P) == 1792 * MIB  # 2 x 600 / 0.75 = 1,600


def test_an_hour_sizes_for_twenty_minutes_of_the_peak_or_the_busiest_hour_twice() -> None:
    by_peak = load(MIB, peak=3 * MIB, observed=HOUR, hour=GIB)
    assert target_bytes(log(8 * MIB), by_peak, TooSmall.PROVEN, P) == 4864 * MIB  # 3 x 1,200 / 0.75 = 4,800
    by_hour = load(MIB, peak=MIB, observed=HOUR, hour=3 * GIB)
    assert target_bytes(log(8 * MIB), by_hour, TooSmall.PROVEN, P) == 6 * GIB
    assert target_bytes(log(8 * MIB), by_hour, TooSmall.LIKELY, P) == 3 * GIB


def test_ceilings_follow_evidence_and_free_disk() -> None:
    assert ceiling_bytes(log(8 * MIB), load(MIB), P) == 4 * GIB
    assert ceiling_bytes(log(8 * MIB), load(MIB, observed=HOUR, hour=GIB), P) == 16 * GIB
    assert ceiling_bytes(log(8 * MIB), load(MIB, observed=DAY, hour=GIB), P) == 64 * GIB
    assert ceiling_bytes(log(8 * MIB, free_disk_bytes=4 * GIB), load(MIB), P) == GIB


def test_a_log_that_no_evidence_can_enlarge_keeps_its_size() -> None:
    assert target_bytes(log(8 * GIB), load(50 * MIB), TooSmall.PROVEN, P) == 8 * GIB


@given(
    st.integers(8, 100_000).map(lambda megabytes: megabytes * MIB),
    st.floats(64 * KIB, 500 * MIB),
    st.sampled_from([None, GIB, 40 * GIB]),
    st.sampled_from(list(TooSmall)),
)
def test_a_target_is_never_below_the_present_size_and_always_whole_mebibytes(
    capacity: int, rate: float, free: int | None, verdict: TooSmall
) -> None:
    present = log(capacity, free_disk_bytes=free)
    target = target_bytes(present, load(rate), verdict, P)
    assert target >= capacity
    assert target % MIB == 0
    assert target <= max(capacity, 4 * GIB)
    assert target_bytes(present, load(rate * 2), verdict, P) >= target


def test_recovery_is_longer_on_rotating_disks() -> None:
    assert recovery_seconds(GIB, "hdd") > 3 * recovery_seconds(GIB, "ssd")
    assert recovery_seconds(GIB, None) == recovery_seconds(GIB, "ssd")


IO = IoThresholds()


def flushing(median: float, p95: float, highest: float, *, p95_polls: float | None = None) -> Flushing:
    return Flushing(WINDOW, median, p95, p95 if p95_polls is None else p95_polls, highest, 0.0, 0, None, None, 16_384)


def io(capacity: int, maximum: int, *, linear: bool, device: int = 20_000) -> IoCapacity:
    return IoCapacity(capacity, maximum, linear, device, False)


def test_mariadb_needs_what_it_flushes_and_mysql_a_maximum_above_its_bursts() -> None:
    assert wanted_capacity(io(200, 2000, linear=True), flushing(500, 1500, 1800), IO) == (1800, 3600)
    assert wanted_capacity(io(200, 2000, linear=False), flushing(500, 1500, 1800), IO) == (600, 2400)


def test_one_poll_sizes_nothing_and_a_twentieth_of_them_the_maximum_alone() -> None:
    present = io(200, 2000, linear=False)
    assert wanted_capacity(present, flushing(300, 320, 12_000), IO) == (400, 800)
    assert wanted_capacity(present, flushing(300, 320, 2000, p95_polls=2000), IO) == (400, 2800)


def test_nothing_is_raised_beyond_the_device_the_maximum_included() -> None:
    fast, slow = flushing(30_000, 40_000, 50_000), flushing(900, 1200, 1500)
    assert raised_capacity(io(200, 2000, linear=False), fast, IO) == (10_000, 20_000)
    assert raised_capacity(io(200, 2000, linear=True), fast, IO) == (20_000, 20_000)
    assert raised_capacity(io(100, 200, linear=True, device=200), slow, IO) == (200, 200)
    assert raised_capacity(io(100, 200, linear=False, device=200), slow, IO) == (100, 200)


@given(
    st.integers(1, 200).map(lambda hundreds: hundreds * 100),
    st.floats(1, 12),
    st.lists(st.floats(0, 60_000), min_size=3, max_size=3).map(sorted),
    st.booleans(),
    st.sampled_from([200, 20_000]),
)
def test_what_is_raised_is_never_lowered_and_the_maximum_is_a_multiple(
    capacity: int, factor: float, rates: list[float], linear: bool, device: int
) -> None:
    present = io(capacity, int(capacity * factor), linear=linear, device=device)
    new, maximum = raised_capacity(present, flushing(*rates), IO)
    assert new >= present.pages_per_second
    assert maximum >= present.maximum_pages_per_second
    if changes(present, new, maximum):
        # The one exception: between what is there and what the device may be asked for no multiple may lie.
        assert maximum % new == 0 or -(-present.maximum_pages_per_second // new) * new > device
    assert new <= max(device, present.pages_per_second)
    assert maximum <= max(device, present.maximum_pages_per_second)
    # The same load asks for no more once this is set.
    again = io(new, maximum, linear=linear, device=device)
    assert changes(again, *raised_capacity(again, flushing(*rates), IO)) == ()


def test_memory_counts_connections_that_were_used_and_never_max_connections() -> None:
    variables = {"max_connections": "100000", "key_buffer_size": str(8 * MIB), "performance_schema": "ON"}
    need = memory_need(variables, max_used_connections=10)
    assert need == MemoryNeed(208 * MIB, 10)
    assert need.other_bytes == 228 * MIB


@given(st.integers(GIB, 2048 * GIB), st.integers(0, 5000))
def test_the_largest_pool_leaves_room_for_all_the_rest(memory_bytes: int, connections: int) -> None:
    need = MemoryNeed(300 * MIB, connections)
    pool = need.largest_pool_bytes(memory_bytes, MemoryThresholds())
    assert pool <= 0.75 * memory_bytes
    if pool > 0:
        assert need.expected_bytes(pool) <= 0.85 * memory_bytes * (1 + 1e-9)


def test_a_redo_log_sized_by_old_names_is_judged_by_the_capacity_in_force() -> None:
    seen = scene("mysql 8.0.33", {"innodb_log_file_size": 512 * MIB})
    status = {**seen.snapshot.status, "Innodb_redo_log_capacity_resized": str(GIB)}
    assert RedoLog.read(replace(seen, snapshot=replace(seen.snapshot, status=status))).capacity_bytes == GIB


@pytest.mark.parametrize(
    ("server", "variables", "capacity"),
    [
        ("mysql 5.7.22", {"innodb_log_file_size": 48 * MIB}, 96 * MIB),
        ("mysql 9.7.4", {"innodb_redo_log_capacity": 100 * MIB}, 100 * MIB),
        ("mariadb 10.2.11", {"innodb_log_file_size": 48 * MIB}, 96 * MIB),
        ("mariadb 10.5.23", {"innodb_log_file_size": 48 * MIB}, 48 * MIB),
    ],
)
def test_the_capacity_is_what_the_version_makes_of_its_variables(
    server: str, variables: dict[str, object], capacity: int
) -> None:
    assert RedoLog.read(scene(server, variables)).capacity_bytes == capacity


def test_what_was_flushed_under_a_redo_log_of_another_size_sizes_nothing() -> None:
    flushed = "Innodb_buffer_pool_pages_flushed"
    before = scene("mysql 8.0.33", redo_per_second=MIB, counters={flushed: 900}, seconds=120)
    after = scene("mysql 8.0.33", redo_per_second=MIB, counters={flushed: 140}, seconds=120)
    resized = tuple(
        replace(
            one,
            previous=replace(one.previous, values={**one.previous.values, series.CAPACITY: 8 * MIB}),
            current=replace(one.current, values={**one.current.values, series.CAPACITY: 8 * MIB}),
        )
        for one in before.intervals
    )
    assert Flushing.read(replace(after, intervals=(*before.intervals, *after.intervals))).p95 == pytest.approx(900)
    seen = Flushing.read(replace(after, intervals=(*resized, *after.intervals)))
    assert (seen.median, seen.p95, seen.highest) == pytest.approx((140, 140, 140))
