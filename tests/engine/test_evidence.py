"""How much was seen: percentiles, minutes, windows, confidence."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.engine import reading
from advisor.engine.evaluation import judge
from advisor.engine.evidence import confidence_in, loaded_polls
from advisor.engine.fact import Fact
from advisor.engine.facts.redo import RedoLoad, RedoLog, RedoPressure
from advisor.engine.facts.settings import Durability
from advisor.engine.observation import Observation
from advisor.engine.outcome import Confidence, Finding, Message, Missing, NotEvaluated, Passed, Severity
from advisor.engine.scene import hours, scene, stated
from advisor.engine.statistics import median, percentile, weighted_percentile
from advisor.engine.units import DAY, GIB, HOUR, KIB, MIB
from advisor.mysql import series
from advisor.mysql.digest import PRESSURE_STEP, HourlyDigest
from advisor.mysql.rates import Interval
from advisor.mysql.snapshot import Poll, RemedyKind
from advisor.rules import rule_by_id

RULE = rule_by_id("redo.redo-log-undersized")
SMALL = {"innodb_redo_log_capacity": 8 * MIB}


def test_percentiles_are_values_that_were_seen() -> None:
    assert percentile([3, 1, 2], 0.5) == 2
    assert percentile([1, 2, 3, 4], 0.95) == 4
    assert percentile([5], 0.01) == 5
    assert median([1, 2]) == 1
    with pytest.raises(ValueError, match="nothing"):
        percentile([], 0.5)


def test_a_percentile_of_a_histogram_is_the_middle_of_its_cell() -> None:
    assert weighted_percentile([50, 49, 1], 0.1, 0.5) == pytest.approx(0.05)
    assert weighted_percentile([50, 49, 1], 0.1, 0.99) == pytest.approx(0.15)
    assert weighted_percentile([0, 0], 0.1, 0.5) == 0.0


@given(st.lists(st.integers(0, 1499), min_size=1, max_size=300), st.sampled_from([0.01, 0.5, 0.95, 0.99, 1.0]))
def test_a_percentile_of_a_histogram_is_within_half_a_cell_of_the_exact_one(
    thousandths: list[int], share: float
) -> None:
    cells = [0.0] * 31
    for value in thousandths:
        cells[value // 50] += 10
    exact, told = percentile(thousandths, share) / 1000, weighted_percentile(cells, PRESSURE_STEP, share)
    assert abs(told - exact) <= PRESSURE_STEP / 2 + 1e-9
    for edge in (0.1, 0.7, 0.8, 0.9):
        assert (told >= edge) == (exact >= edge), "a threshold at an edge means what it says"


def test_a_day_at_0_86_is_not_at_0_90() -> None:
    seen = scene(
        "mysql 8.0.33",
        {"innodb_redo_log_capacity": GIB},
        redo_per_second=2 * MIB,
        pressure=[0.86],
        digests=hours(24, redo_per_hour=7 * GIB // 5, pressure=0.86, capacity_bytes=GIB),
    )
    assert RedoPressure.read(seen).p95 == pytest.approx(0.875)
    assert isinstance(outcome(seen), Passed)


def polls(*steps: tuple[float, float]) -> tuple[Interval, ...]:
    """Intervals of (seconds, growth of the counter ``n``)."""
    at, value = 0.0, 0.0
    made = [Poll(at, at, 1000, {"n": value})]
    for seconds, growth in steps:
        at, value = at + seconds, value + growth
        made.append(Poll(at, at, 1000 + int(at), {"n": value}))
    return tuple(Interval(one, other, other.at - one.at) for one, other in pairwise(made))


def test_minute_rates_average_the_polls_of_a_minute_so_that_one_busy_poll_is_no_peak() -> None:
    assert reading.minute_rates(polls(*[(10, 0)] * 5, (10, 600), *[(10, 60)] * 6), "n") == [10.0, 6.0]


def test_a_window_below_a_minute_gives_its_own_average() -> None:
    assert reading.minute_rates(polls((10, 100), (10, 300)), "n") == [20.0]


def test_a_rest_below_half_a_minute_is_left_out() -> None:
    assert reading.minute_rates(polls(*[(10, 10)] * 6, (10, 9000)), "n") == [1.0]


def test_a_gap_ends_a_minute() -> None:
    before = polls(*[(10, 100)] * 4)
    later = tuple(
        Interval(
            Poll(one.previous.at + 500, one.previous.server_clock + 500, 2000, one.previous.values),
            Poll(one.current.at + 500, one.current.server_clock + 500, 2010, one.current.values),
            one.seconds,
        )
        for one in polls(*[(10, 10)] * 4)
    )
    assert reading.minute_rates(before + later, "n") == [10.0, 1.0]


def outcome(seen: Observation) -> object:
    return judge(seen, [RULE], strict=True).outcome(RULE.id)


def test_an_idle_server_is_not_evaluated_and_the_remedy_says_to_wait_for_load() -> None:
    said = outcome(scene("mysql 8.0.33", SMALL, redo_per_second=100, pressure=[0.99]))
    assert isinstance(said, NotEvaluated)
    assert [remedy.kind for remedy in said.missing] == [RemedyKind.WINDOW]
    assert "when busy" in said.missing[0].text


def test_an_idle_mariadb_with_a_high_age_is_no_finding() -> None:
    assert isinstance(
        outcome(scene("mariadb 10.11.18", {"innodb_log_file_size": 8 * MIB}, redo_per_second=16, pressure=[0.99])),
        NotEvaluated,
    )


def test_a_server_just_started_is_not_evaluated() -> None:
    assert isinstance(outcome(scene("mysql 8.0.33", SMALL, redo_per_second=MIB, pressure=[1], seconds=0)), NotEvaluated)


def test_half_a_minute_is_enough_for_who_asks_and_not_for_who_watches() -> None:
    def seen(deliberate: bool) -> Observation:
        return scene("mysql 8.0.33", SMALL, redo_per_second=2 * MIB, pressure=[1], seconds=30, deliberate=deliberate)

    assert isinstance(outcome(seen(True)), Finding)
    assert isinstance(outcome(seen(False)), NotEvaluated)


def test_one_poll_at_the_limit_is_chance_and_two_are_proof() -> None:
    def seen(pressure: list[float]) -> Observation:
        return scene(
            "mysql 8.0.33", {"innodb_redo_log_capacity": 512 * MIB}, redo_per_second=4 * MIB, pressure=pressure
        )

    calm = [0.5] * 4
    assert isinstance(outcome(seen([0.5, 1.0, *calm, 0.5])), Passed)
    assert isinstance(outcome(seen([0.5, 1.0, 1.0, *calm])), Finding)


def test_waits_for_the_log_buffer_are_no_evidence() -> None:
    seen = scene(
        "mysql 8.0.33",
        {"innodb_redo_log_capacity": 2 * GIB},
        redo_per_second=2 * MIB,
        pressure=[0.3],
        counters={"Innodb_log_waits": 100},
    )
    assert isinstance(outcome(seen), Passed)


def test_a_counter_of_waits_for_redo_space_is_evidence_without_a_poll_at_the_limit() -> None:
    seen = scene(
        "mysql 8.0.33",
        {"innodb_redo_log_capacity": 512 * MIB},
        redo_per_second=4 * MIB,
        pressure=[0.6],
        counters={"log_on_file_space_waits": 2},
    )
    assert isinstance(outcome(seen), Finding)


def test_without_a_privilege_the_remedy_is_the_grant() -> None:
    said = outcome(scene("mysql 5.7.22", redo_per_second=MIB, age_readable=False))
    assert isinstance(said, NotEvaluated)
    assert [remedy.kind for remedy in said.missing] == [RemedyKind.GRANT]
    assert "GRANT PROCESS" in said.missing[0].text


def test_after_a_resize_only_the_time_since_then_is_judged() -> None:
    small = scene("mysql 8.0.33", SMALL, redo_per_second=2 * MIB, pressure=[1.0], seconds=300)
    large = scene("mysql 8.0.33", {"innodb_redo_log_capacity": GIB}, redo_per_second=2 * MIB, pressure=[0.05])

    def moved(one: Poll) -> Poll:
        return Poll(one.at + 300, one.server_clock + 300, one.uptime_seconds, one.values)

    after = tuple(Interval(moved(one.previous), moved(one.current), one.seconds) for one in large.intervals)
    mixed = Observation(large.snapshot, small.intervals + after[:3])
    assert isinstance(outcome(mixed), NotEvaluated)
    assert isinstance(outcome(Observation(large.snapshot, small.intervals + after)), Passed)
    with pytest.raises(Missing):
        RedoPressure.read(mixed)
    assert RedoLoad.read(mixed).observed_seconds == 330


def test_the_proposal_from_a_minute_is_bounded_and_from_a_day_it_holds_the_busy_hour() -> None:
    heavy = scene("mysql 8.0.33", SMALL, redo_per_second=100 * MIB, pressure=[1.0])
    assert judge(heavy, [RULE], strict=True).recommendations[0].variables == {"innodb_redo_log_capacity": 4 * GIB}
    day = scene(
        "mysql 8.0.33",
        {"innodb_redo_log_capacity": GIB},
        redo_per_second=2 * MIB,
        pressure=[1.0],
        digests=hours(24, redo_per_hour=10 * GIB, pressure=0.9, capacity_bytes=GIB, at_limit_ratio=0.1),
    )
    [one] = judge(day, [RULE], strict=True).recommendations
    assert one.variables == {"innodb_redo_log_capacity": 20 * GIB}
    assert one.severity is Severity.CRITICAL
    assert one.confidence is Confidence.HIGH


def test_limits_follow_the_value_on_trial() -> None:
    seen = scene("mariadb 10.11.18", {"innodb_log_file_size": 8 * MIB}, redo_per_second=MIB, pressure=[1.0])
    before, after = RedoLog.read(seen), RedoLog.read(seen.with_proposed({"innodb_log_file_size": 96 * MIB}))
    assert after.capacity_bytes == 96 * MIB
    assert after.limit_bytes == 80_819_529  # What 10.11 reports for 96 MiB.
    assert RedoPressure.read(seen).p95 == pytest.approx(1.0)
    tried = RedoPressure.read(seen.with_proposed({"innodb_log_file_size": 96 * MIB}))
    assert tried.p95 == pytest.approx(before.limit_bytes / after.limit_bytes, rel=1e-6)


def test_confidence_follows_the_evidence() -> None:
    def seen(**more: object) -> Observation:
        return scene("mysql 8.0.33", redo_per_second=MIB, **more)  # type: ignore[arg-type]

    window: list[type[Fact]] = [RedoPressure, RedoLog]
    assert confidence_in(seen(), window).confidence is Confidence.LOW
    assert confidence_in(seen(seconds=2 * HOUR, every=60), window).confidence is Confidence.MEDIUM
    assert confidence_in(seen(seconds=2 * HOUR, every=60, uptime_seconds=600), window).confidence is Confidence.LOW
    day = hours(24, redo_per_hour=GIB, pressure=0.5, capacity_bytes=100 * MIB)
    assert confidence_in(seen(digests=day), window).confidence is Confidence.HIGH
    assert confidence_in(seen(digests=day, uptime_seconds=HOUR), window).confidence is Confidence.MEDIUM
    holes = tuple(
        digest
        for index, digest in enumerate(hours(48, redo_per_hour=1, pressure=0, capacity_bytes=100 * MIB))
        if index % 2
    )
    assert confidence_in(seen(digests=holes, uptime_seconds=9 * DAY), window).confidence is Confidence.MEDIUM
    assert confidence_in(seen(), [Durability]).confidence is Confidence.HIGH
    assert confidence_in(seen(), [Durability], unverified=Message("nobody tried it")).confidence is Confidence.LOW


def test_a_poll_is_loaded_by_what_was_written_and_not_by_the_age() -> None:
    assert loaded_polls(scene("mysql 8.0.33", redo_per_second=63 * KIB, pressure=[1.0]).intervals) == 0
    assert loaded_polls(scene("mysql 8.0.33", redo_per_second=65 * KIB, pressure=[0.0]).intervals) == 6


def test_intervals_without_positions_are_left_out_of_the_rate() -> None:
    seen = scene("mysql 8.0.33", redo_per_second=MIB)
    blind = Poll(seen.intervals[2].current.at, seen.intervals[2].current.server_clock, 1, {})
    broken = Interval(seen.intervals[2].previous, blind, 10)
    mixed = Observation(seen.snapshot, (*seen.intervals[:2], broken, *seen.intervals[3:]))
    assert broken.delta(series.LSN) is None
    assert RedoLoad.read(mixed).mean_bytes_per_second == pytest.approx(MIB)


def why(observation: Observation) -> str:
    (one,) = judge(observation, [RULE], strict=True).recommendations
    assert one.confidence_why is not None
    return one.confidence_why.text


def test_a_low_confidence_names_its_own_reason() -> None:
    def loaded(server: str, digests: tuple[HourlyDigest, ...] = ()) -> Observation:
        return scene(server, SMALL, redo_per_second=4 * MIB, pressure=[1.0], digests=digests)

    assert why(loaded("mysql 8.0.33")) == "The window was short: later figures may change it."
    day = hours(24, redo_per_hour=10 * GIB, pressure=0.9, capacity_bytes=8 * MIB, at_limit_ratio=0.1)
    assert why(loaded("mysql 8.0.33", day)) == "A day and more was observed."
    # A day of observation makes no server known that nobody tried.
    assert "distribution was confirmed on no server" in why(loaded("percona 8.0.36", day))
    assert "version was confirmed on no server" in why(loaded("mysql 26.7.0", day))


def test_what_a_formula_says_is_never_more_than_medium() -> None:
    rule = rule_by_id("memory.buffer-pool-exceeds-memory")
    (found,) = judge(
        scene("mysql 8.0.33", {"innodb_buffer_pool_size": 8 * GIB}, host=stated(memory_bytes=8 * GIB)),
        [rule],
        strict=True,
    ).recommendations
    assert (found.confidence, found.severity) == (Confidence.MEDIUM, Severity.CRITICAL)
