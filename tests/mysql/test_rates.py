"""Between two polls lies an interval with rates, or a gap with its reason; never a negative rate."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.mysql import series
from advisor.mysql.rates import Gap, GapReason, Interval, between, intervals
from advisor.mysql.snapshot import Number, Poll

BEFORE = Poll(
    at=1_000_000.0,
    server_clock=2_000_000.25,
    uptime_seconds=500,
    values={
        "Questions": 1_000,
        "Innodb_redo_log_current_lsn": 50_000,
        "Threads_running": 3,
        "Uptime_since_flush_status": 500,
        "Created_tmp_disk_tables": 7,
        "Com_commit": 2**64 - 5,
    },
    identity="a",
)


def later(seconds: float = 10.0, *, at: float | None = None, uptime: int | None = None, **values: Number) -> Poll:
    return Poll(
        at=BEFORE.at + (seconds if at is None else at),
        server_clock=BEFORE.server_clock + seconds,
        uptime_seconds=BEFORE.uptime_seconds + (round(seconds) if uptime is None else uptime),
        values={**BEFORE.values, "Uptime_since_flush_status": 500 + round(seconds), **values},
        identity="a",
    )


def interval(current: Poll) -> Interval:
    result = between(BEFORE, current)
    assert isinstance(result, Interval), result
    return result


def gap(current: Poll, previous: Poll = BEFORE) -> Gap:
    result = between(previous, current)
    assert isinstance(result, Gap), result
    return result


def test_a_rate_is_per_second_of_the_servers_clock() -> None:
    # Our own clock says 10.5 s, since the second poll was sent late: the server's clock says 10.
    one = interval(later(10.0, at=10.5, Questions=1_500, Innodb_redo_log_current_lsn=60_000))
    assert one.seconds == 10.0
    assert one.delta("Questions") == 500
    assert one.per_second("Questions") == 50.0
    assert one.per_second("Innodb_redo_log_current_lsn") == 1_000.0
    assert (one.started_at, one.ended_at) == (1_000_000.0, 1_000_010.5)


def test_a_gauge_has_a_value_and_no_rate() -> None:
    one = interval(later(Threads_running=9))
    assert one.last("Threads_running") == 9
    assert one.delta("Threads_running") is None
    assert one.per_second("Threads_running") is None


def test_what_was_not_read_is_unknown_and_not_zero() -> None:
    one = interval(later())
    assert one.delta("Innodb_log_waits") is None
    assert one.last("Innodb_log_waits") is None
    assert one.delta("Questions") == 0


def test_a_counter_that_fell_has_no_rate_while_the_others_have() -> None:
    one = interval(later(Questions=10, Innodb_redo_log_current_lsn=50_001))
    assert one.delta("Questions") is None
    assert one.delta("Innodb_redo_log_current_lsn") == 1


def test_a_counter_that_wrapped_around_has_no_rate() -> None:
    assert interval(later(Com_commit=20)).delta("Com_commit") is None


def test_flush_status_silences_the_counters_it_resets_even_if_they_rose_again() -> None:
    # Seven temporary tables before; zeroed, and nine since: the difference of two would be a lie.
    one = interval(later(10.0, Uptime_since_flush_status=4, Created_tmp_disk_tables=9, Questions=1_100))
    assert one.delta("Created_tmp_disk_tables") is None
    assert one.delta("Questions") == 100
    assert interval(later(10.0, Created_tmp_disk_tables=9)).delta("Created_tmp_disk_tables") == 2


def test_transactions_counted_in_two_ways_are_not_subtracted() -> None:
    before = replace(BEFORE, values={series.TRANSACTIONS: 100, series.TRANSACTIONS_METHOD: 4})
    after = replace(later(), values={series.TRANSACTIONS: 900, series.TRANSACTIONS_METHOD: 5})
    same = replace(later(), values={series.TRANSACTIONS: 150, series.TRANSACTIONS_METHOD: 4})
    changed, unchanged = between(before, after), between(before, same)
    assert isinstance(changed, Interval)
    assert isinstance(unchanged, Interval)
    assert changed.delta(series.TRANSACTIONS) is None
    assert unchanged.delta(series.TRANSACTIONS) == 50


def test_a_restart_is_a_gap() -> None:
    assert gap(later(10.0, uptime=-497)).reason is GapReason.RESTART


def test_a_restart_is_seen_although_the_server_is_up_for_longer_than_before() -> None:
    # 500 s up, then an hour unwatched in which it was restarted: 3,000 s up now.
    long_after = later(3_600.0, uptime=2_500)
    assert gap(long_after).reason is GapReason.RESTART


def test_a_restart_shortly_after_the_start_is_seen() -> None:
    young = replace(BEFORE, uptime_seconds=2)
    assert gap(replace(later(10.0), uptime_seconds=6), young).reason is GapReason.RESTART


@pytest.mark.parametrize("uptime", [9, 10, 11])
def test_uptime_is_whole_seconds_and_may_differ_by_one(uptime: int) -> None:
    assert interval(later(10.0, uptime=uptime)).seconds == 10.0


def test_another_server_behind_the_address_is_a_gap() -> None:
    assert gap(replace(later(), identity="b")).reason is GapReason.IDENTITY


def test_an_unknown_identity_is_no_change_of_it() -> None:
    assert isinstance(between(BEFORE, replace(later(), identity="")), Interval)


@pytest.mark.parametrize("seconds", [0.0, -3.0])
def test_a_clock_that_does_not_advance_is_a_gap(seconds: float) -> None:
    assert gap(later(seconds, at=10.0, uptime=0)).reason is GapReason.CLOCK


def test_a_clock_that_jumped_is_a_gap() -> None:
    # Clock and uptime both leap by an hour, since the server counts its uptime by its clock; ours went on by 10 s.
    assert gap(later(3_610.0, at=10.0, uptime=3_610)).reason is GapReason.CLOCK
    assert gap(later(10.0, uptime=60)).reason is GapReason.CLOCK


def test_an_interval_nobody_watched_is_a_gap_where_that_is_asked_for() -> None:
    assert isinstance(between(BEFORE, later(300.0)), Interval)
    missed = between(BEFORE, later(300.0), longest_seconds=60)
    assert isinstance(missed, Gap)
    assert (missed.reason, missed.started_at, missed.ended_at) == (GapReason.MISSED, 1_000_000.0, 1_000_300.0)


def test_a_run_of_polls_gives_one_interval_or_gap_between_each_two() -> None:
    polls = [BEFORE, later(10.0), later(20.0), later(30.0, uptime=-499)]
    kinds = [type(one) for one in intervals(polls)]
    assert kinds == [Interval, Interval, Gap]
    assert intervals(polls[:1]) == []


@given(
    seconds=st.floats(min_value=-100, max_value=100_000, allow_nan=False),
    at=st.floats(min_value=0.001, max_value=100_000, allow_nan=False),
    uptime=st.integers(min_value=-500, max_value=100_000),
    questions=st.integers(min_value=0, max_value=2**64 - 1),
)
def test_no_rate_is_ever_negative(seconds: float, at: float, uptime: int, questions: int) -> None:
    result = between(BEFORE, later(seconds, at=at, uptime=uptime, Questions=questions))
    if isinstance(result, Gap):
        assert result.text.endswith(".")
        return
    assert result.seconds > 0
    rate = result.per_second("Questions")
    assert rate is None or rate >= 0
    assert (rate is None) == (questions < 1_000)


def test_a_server_that_restarts_when_it_was_up_for_seconds_only_is_not_taken_for_the_same_run() -> None:
    young = replace(BEFORE, uptime_seconds=2, values={"Questions": 900, "Connections": 9})
    again = replace(later(3.0), uptime_seconds=2, values={"Questions": 8, "Connections": 2})
    assert gap(again, young).reason is GapReason.RESTART
