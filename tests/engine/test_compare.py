"""Before and after: what counts as unusual, what is left out, and what stays untold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pytest

from advisor.engine import bootstrap
from advisor.engine.compare import Change, Comparison, compare
from advisor.engine.compare_blocks import F64, Blocks, cut, joined
from advisor.engine.compare_settings import differing
from advisor.mysql.counters import Kind

NAN = float("nan")


@dataclass
class Made:
    """Readings as the sample history gives them."""

    at: F64
    seconds: F64
    values: dict[str, F64]
    restarts: tuple[float, ...] = field(default=())

    @property
    def uptime_seconds(self) -> F64:
        """Of a process that started with the made-up time."""
        return self.at - self.started

    started: float = 1_600_000_000.0


#: A read and write load of a hundred transactions a second, with what each of them does.
LOAD = {
    "Com_begin": 100.0,
    "Com_commit": 100.0,
    "Com_rollback": 0.5,
    "Questions": 1500.0,
    "Handler_read_rnd_next": 90_000.0,
    "Handler_read_next": 40.0,
    "Innodb_buffer_pool_read_requests": 30_000.0,
    "Created_tmp_files": 0.0,
}


def made(
    rates: Mapping[str, float], *, readings: int = 61, spacing: float = 60, seed: int = 1, swing: float = 0.05
) -> Made:
    """Counters that grow by these rates per second, each interval by its own chance."""
    dice = np.random.default_rng(seed)
    at = 1_700_000_000 + np.arange(readings, dtype=np.float64) * spacing
    together = dice.lognormal(0, swing, readings - 1)
    values = {
        name: 7 + np.concatenate(([0], np.cumsum(dice.poisson(rate * spacing * together))))
        for name, rate in rates.items()
    }
    return Made(at, np.concatenate(([NAN], np.diff(at))), values)


def compared(before: Mapping[str, float], after: Mapping[str, float], **options: float) -> Comparison:
    found = compare(cut(made(before, seed=1, **options)), cut(made(after, seed=2, **options)))  # type: ignore[arg-type]
    assert found is not None
    return found


def change(found: Comparison, name: str) -> Change:
    return next(one for one in found.changes if one.name == name or name in one.also)


def test_an_index_that_is_missing_stands_at_the_top() -> None:
    found = compared(
        LOAD,
        {
            **LOAD,
            "Handler_read_rnd_next": 0.0,
            "Handler_read_next": 80_000.0,
            "Innodb_buffer_pool_read_requests": 900.0,
        },
    )
    first, second, third, *others = found.ordered(per_work=False)
    assert {first.name, second.name} == {"Handler_read_rnd_next", "Handler_read_next"}
    assert third.name == "Innodb_buffer_pool_read_requests"
    assert first.unusual(per_work=False)
    assert not any(one.unusual(per_work=False) for one in others)


def test_a_load_that_merely_grew_is_told_once_and_nothing_is_unusual_per_transaction() -> None:
    found = compared(LOAD, {name: 1.8 * rate for name, rate in LOAD.items()})
    assert found.work is not None
    assert found.work.kind == "transactions"
    assert found.work.ratio == pytest.approx(1.8, rel=0.05)
    assert found.work.changed
    assert found.per_work
    assert not any(one.unusual(per_work=True) for one in found.changes)
    assert change(found, "Questions").unusual(per_work=False)


def test_work_that_became_dearer_is_seen_although_the_load_grew() -> None:
    after = {name: 1.8 * rate for name, rate in LOAD.items()}
    found = compared(LOAD, {**after, "Innodb_buffer_pool_read_requests": 30_000.0 * 1.8 * 2.4})
    first = found.ordered(per_work=True)[0]
    assert first.name == "Innodb_buffer_pool_read_requests"
    assert first.per_work is not None
    assert first.per_work.ratio == pytest.approx(2.4, rel=0.05)
    assert first.per_work.low is not None
    assert first.per_work.high is not None
    assert first.per_work.low < 2.4 < first.per_work.high
    assert first.per_work.high / first.per_work.low < 1.2


def test_what_keeps_step_with_the_clock_is_no_news_when_the_load_changes() -> None:
    found = compared(
        {**LOAD, "Innodb_master_loops": 10.0}, {**{n: 3 * r for n, r in LOAD.items()}, "Innodb_master_loops": 10.0}
    )
    loops = change(found, "Innodb_master_loops")
    assert loops.per_work is not None
    assert loops.per_work.unusual
    assert not loops.unusual(per_work=True)


def test_a_counter_is_judged_against_its_own_swings() -> None:
    calm = compared(LOAD, {**LOAD, "Questions": 1500 * 1.5}, swing=0.02)
    wild = compared(LOAD, {**LOAD, "Questions": 1500 * 1.5}, swing=0.9)
    assert change(calm, "Questions").unusual(per_work=False)
    assert not change(wild, "Questions").unusual(per_work=False)


def test_one_event_is_nothing_and_many_are_something() -> None:
    def score(events: int, *, at_once: bool = False) -> float:
        before, after = made(LOAD, seed=1), made(LOAD, seed=2)
        before.values["Aborted_connects"] = np.zeros(61)
        grown = np.zeros(61)
        grown[31 if at_once else np.linspace(1, 60, events).astype(int)] = 1
        after.values["Aborted_connects"] = np.cumsum(grown) * (events if at_once else 1)
        found = compare(cut(before), cut(after))
        assert found is not None
        return change(found, "Aborted_connects").score(per_work=False)

    assert score(1) < 1
    assert score(50) > 3
    assert score(50, at_once=True) < score(50)


def test_longer_windows_do_not_make_a_small_change_unusual() -> None:
    for readings in (61, 1441):
        found = compared(LOAD, {**LOAD, "Questions": 1500 * 1.06}, readings=readings)
        assert not change(found, "Questions").unusual(per_work=False)


def test_with_few_blocks_nothing_is_judged_but_the_order_still_helps() -> None:
    found = compared(LOAD, {**LOAD, "Handler_read_rnd_next": 10.0}, readings=4)
    assert not found.judged
    assert found.before.blocks < 10
    first = found.ordered(per_work=False)[0]
    assert first.name == "Handler_read_rnd_next"
    assert first.unusual(per_work=False) is None
    assert first.per_second.low is None


def test_rates_are_exact_for_two_readings() -> None:
    before, after = made(LOAD, readings=2), made(LOAD, readings=2)
    after.values["Questions"] = np.array([10.0, 130.0])
    found = compare(cut(before), cut(after))
    assert found is not None
    questions = change(found, "Questions")
    assert questions.grown_after == 120
    assert questions.per_second.after == 2.0


def test_a_restart_is_said_and_its_interval_left_out() -> None:
    course = made(LOAD)
    for values in course.values.values():
        values[30:] -= values[30]
    course.seconds[30] = NAN
    course.restarts = (float(course.at[30]),)
    found = compare(cut(made(LOAD, seed=2)), cut(course))
    assert found is not None
    assert found.after.restarts == (float(course.at[30]),)
    assert found.after.left_out_seconds == 60
    assert found.after.measured_seconds == 59 * 60
    assert change(found, "Com_commit").per_second.after == pytest.approx(100, rel=0.05)


def test_a_restart_between_the_windows_is_said() -> None:
    before, after = made(LOAD, seed=1), made(LOAD, seed=2)
    after.at = after.at + 7200
    assert (same := compare(cut(before), cut(after))) is not None
    assert same.restarted_at is None
    after.started = float(before.at[-1]) + 600
    assert (anew := compare(cut(before), cut(after))) is not None
    assert anew.restarted_at == after.started
    assert (other := compare(cut(before), cut(after), one_server=False)) is not None
    assert other.restarted_at is None


def test_a_counter_that_was_set_back_has_no_growth_there_and_keeps_its_rate() -> None:
    course = made(LOAD)
    course.values["Slow_queries"] = np.concatenate((np.arange(30) * 60.0, np.arange(31) * 60.0))
    blocks = cut(course)
    place = blocks.names.index("Slow_queries")
    assert blocks.amounts[:, place].sum() / blocks.covered[:, place].sum() == pytest.approx(1.0)
    assert blocks.covered[:, place].sum() == 59 * 60


def test_flush_status_is_noticed_also_where_a_counter_grew_beyond_its_old_value() -> None:
    course = made(LOAD)
    course.values["Uptime_since_flush_status"] = np.concatenate((1000 + np.arange(30) * 60.0, 5 + np.arange(31) * 60.0))
    course.values["Created_tmp_tables"] = np.concatenate((np.full(30, 3.0), 500 + np.arange(31) * 0.0))
    blocks = cut(course)
    assert blocks.amounts[:, blocks.names.index("Created_tmp_tables")].sum() == 0


def test_a_gauge_is_compared_by_its_mean_and_has_no_figure_per_transaction() -> None:
    before, after = made(LOAD, seed=1), made(LOAD, seed=2)
    before.values["Threads_running"], after.values["Threads_running"] = np.full(61, 4.0), np.full(61, 12.0)
    found = compare(cut(before), cut(after))
    assert found is not None
    running = change(found, "Threads_running")
    assert running.kind is Kind.GAUGE
    assert (running.per_second.before, running.per_second.after) == (4.0, 12.0)
    assert running.per_work is None
    assert running.grown_before is None
    assert (running.per_second.low, running.per_second.high) == pytest.approx((3.0, 3.0))


def test_a_counter_that_appears_has_no_factor() -> None:
    appeared = change(compared(LOAD, {**LOAD, "Created_tmp_files": 3.0}), "Created_tmp_files").per_second
    assert (appeared.before, appeared.ratio, appeared.low) == (0.0, None, None)
    assert appeared.unusual


def test_twins_stand_in_one_row() -> None:
    before, after = made(LOAD), made(LOAD, seed=2)
    for course in (before, after):
        course.values["metrics.buffer_pool_read_requests"] = course.values["Innodb_buffer_pool_read_requests"]
    found = compare(cut(before), cut(after))
    assert found is not None
    assert change(found, "metrics.buffer_pool_read_requests").name == "Innodb_buffer_pool_read_requests"


def test_a_twin_that_was_read_a_moment_later_is_folded_and_a_namesake_that_counts_otherwise_is_not() -> None:
    before, after = made(LOAD), made(LOAD, seed=2)
    for course, factor in ((before, 1.0), (after, 3.0)):
        requests = course.values["Innodb_buffer_pool_read_requests"]
        course.values["metrics.buffer_pool_read_requests"] = requests + np.arange(61) * 3
        course.values["Innodb_log_waits"] = 100.0 * np.arange(61, dtype=np.float64)
        course.values["metrics.log_waits"] = 100.0 * np.arange(61, dtype=np.float64) * factor
    found = compare(cut(before), cut(after))
    assert found is not None
    assert change(found, "metrics.buffer_pool_read_requests").name == "Innodb_buffer_pool_read_requests"
    assert change(found, "metrics.log_waits").name == "metrics.log_waits"


def test_a_gauge_that_moved_by_one_or_two_is_not_unusual_and_one_that_tripled_is() -> None:
    before, after = made(LOAD, seed=1), made(LOAD, seed=2)
    for name, low, high in (("Aria_pagecache_blocks_not_flushed", 2.0, 0.0), ("Threads_running", 4.0, 12.0)):
        before.values[name], after.values[name] = np.full(61, low), np.full(61, high)
    found = compare(cut(before), cut(after))
    assert found is not None
    assert not change(found, "Aria_pagecache_blocks_not_flushed").unusual(per_work=False)
    assert change(found, "Threads_running").unusual(per_work=False)


def test_names_of_one_window_only_are_listed_and_not_compared() -> None:
    found = compared({**LOAD, "Innodb_gone": 5.0}, {**LOAD, "Innodb_new": 5.0})
    assert (found.missing_before, found.missing_after) == (("Innodb_new",), ("Innodb_gone",))
    assert not any(one.name in ("Innodb_gone", "Innodb_new") for one in found.changes)


def test_a_load_that_only_reads_is_told_by_its_statements() -> None:
    reading = {name: 0.0 if name.startswith("Com_") else rate for name, rate in LOAD.items()}
    found = compared(reading, {**reading, "Questions": 3000.0})
    assert found.work is not None
    assert found.work.kind == "statements"
    assert found.work.ratio == pytest.approx(2, rel=0.05)


def test_a_server_that_does_nothing_has_no_unit_of_work() -> None:
    idle = dict.fromkeys(LOAD, 0.001)
    found = compared(idle, idle)
    assert found.work is None
    assert not found.per_work


def test_a_window_without_two_readings_is_not_compared() -> None:
    assert compare(cut(made(LOAD, readings=1)), cut(made(LOAD))) is None


def test_parts_cut_one_by_one_make_the_same_window() -> None:
    whole = made(LOAD, readings=1441)
    width = cut(whole).width_seconds
    places = [slice(0, 721), slice(720, 1441)]
    parts = []
    for place in places:
        seconds = whole.seconds[place].copy()
        seconds[0] = NAN
        parts.append(cut(Made(whole.at[place], seconds, {n: v[place] for n, v in whole.values.items()}), width=width))
    together, at_once = joined(parts), cut(whole)
    assert together.readings == at_once.readings
    assert together.measured_seconds == at_once.measured_seconds
    np.testing.assert_allclose(together.amounts, at_once.amounts)


def test_blocks_are_the_longest_that_leave_ten_of_them() -> None:
    def width(readings: int, spacing: float) -> int:
        return cut(made(LOAD, readings=readings, spacing=spacing)).width_seconds

    assert [width(16, 60), width(61, 60), width(25 * 60, 60), width(31, 5)] == [60, 300, 3600, 10]


def test_the_interval_covers_the_true_factor_about_as_often_as_it_says() -> None:
    """Autocorrelated rates, as those of servers are; a nominal 95 % interval of so few blocks covers somewhat less."""
    dice = np.random.default_rng(7)

    def window(rate: float) -> Blocks:
        swings = np.zeros(240)
        for place in range(1, 240):
            swings[place] = 0.6 * swings[place - 1] + dice.normal(0, 0.12)
        grown = dice.poisson(rate * 60 * np.exp(swings))
        at = 60.0 * np.arange(241, dtype=np.float64)
        return cut(Made(at, np.concatenate(([NAN], np.diff(at))), {"Questions": np.concatenate(([0], grown.cumsum()))}))

    hits = 0
    for _ in range(200):
        found = compare(window(50.0), window(75.0))
        assert found is not None
        factor = found.changes[0].per_second
        assert factor.low is not None
        assert factor.high is not None
        hits += factor.low <= 1.5 <= factor.high
    assert 170 <= hits <= 199


def test_a_bootstrap_draws_runs_of_neighbours_and_always_the_same() -> None:
    drawn = bootstrap.weights(27, draws=50)
    assert (drawn.sum(axis=1) == 27).all()
    assert (drawn == bootstrap.weights(27, draws=50)).all()
    with pytest.raises(ValueError, match="nothing"):
        bootstrap.weights(0)


def test_settings_are_compared_by_what_they_mean() -> None:
    before = {"innodb_log_file_size": "1G", "log_bin": "ON", "sync_binlog": "1", "port": "3306", "timestamp": "1.5"}
    after = {
        "innodb_log_file_size": "1073741824",
        "log_bin": "1",
        "sync_binlog": "0",
        "port": "3307",
        "timestamp": "2.5",
    }
    assert [(one.name, one.before, one.after) for one in differing(before, after, one_server=False)] == [
        ("sync_binlog", "1", "0")
    ]
    assert [one.name for one in differing(before, after, one_server=True)] == ["port", "sync_binlog"]


def test_a_variable_that_one_side_lacks_differs() -> None:
    (found,) = differing({"innodb_log_file_size": "48M"}, {}, one_server=True)
    assert (found.before, found.after) == ("48M", None)
