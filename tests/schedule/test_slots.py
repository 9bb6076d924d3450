"""Slots are spread over servers, follow each other at the interval, and are given up when it is too late for them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from collector import schedule

_intervals = st.integers(1, 3600)
_ids = st.text("abcXYZ019", min_size=16, max_size=16)
_instants = st.floats(1e9, 4e9)


@given(_ids, _intervals, _instants)
def test_the_next_slot_is_later_and_within_one_interval(server_id: str, interval: int, after: float) -> None:
    slot = schedule.next_slot(server_id, interval, after)
    assert after < slot <= after + interval + 1
    assert schedule.next_slot(server_id, interval, slot) == slot + interval
    assert schedule.next_slot(server_id, interval, slot - 1) == slot


@given(_ids, st.integers(1, 300), st.integers(1, 12), _instants)
def test_a_full_collection_falls_on_a_polls_slot(server_id: str, fast: int, times: int, after: float) -> None:
    full = schedule.next_slot(server_id, fast * times, after)
    assert schedule.next_slot(server_id, fast, full - 1) == full


@given(_ids, st.integers(2, 3600), st.integers(10**9, 4 * 10**9), st.floats(0, 10_000))
def test_what_is_read_is_never_too_late_and_never_before_its_time(
    server_id: str, interval: int, after: int, late: float
) -> None:
    slot = schedule.next_slot(server_id, interval, after)
    now = slot + late
    readable = schedule.next_readable(server_id, interval, slot, now)
    assert readable >= slot
    assert (readable - slot) % interval == 0
    assert now <= schedule.latest_start(readable, interval)
    # No slot is given up that could still have been read.
    assert readable == slot or now > schedule.latest_start(readable - interval, interval)


def test_servers_are_spread_over_the_interval() -> None:
    offsets = {schedule.next_slot(f"server-{number:09}", 10, 1e9) % 10 for number in range(200)}
    assert offsets == set(range(10))


def test_pauses_double_up_to_fifteen_intervals() -> None:
    assert [schedule.back_off_intervals(failures) for failures in range(1, 8)] == [1, 2, 4, 8, 15, 15, 15]
    assert schedule.back_off_intervals(10**6) == 15


def test_a_wrong_password_is_tried_hourly_after_three_times_and_a_hostile_server_daily() -> None:
    assert [schedule.pause_seconds(n, "wrong-password", 10) for n in range(1, 6)] == [10, 20, 40, 3600, 3600]
    assert schedule.pause_seconds(1, "hostile", 10) == 86_400
    assert schedule.pause_seconds(4, "too-slow", 10) == 80
    for kind in ("wrong-password", "hostile", "refused", ""):
        longest = max(schedule.pause_seconds(n, kind, 300) for n in range(1, 30))
        assert schedule.longest_pause_seconds(kind, 300) == longest
