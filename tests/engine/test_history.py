"""What happened before a change belongs to the values of then: history of harm ends where settings changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from advisor.engine.evaluation import judge
from advisor.engine.evidence import confidence_in, settled_digests
from advisor.engine.facts.redo import LongPressure, RedoLoad, RedoPressure
from advisor.engine.observation import Observation
from advisor.engine.outcome import Confidence, Finding, Missing, NotEvaluated, Passed
from advisor.engine.scene import hours, scene
from advisor.engine.units import DAY, GIB, HOUR, MIB
from advisor.mysql.digest import HourlyDigest
from advisor.rules import all_rules, rule_by_id

BLIND = "flushing.adaptive-flushing-blind"
SMALL = "redo.redo-log-undersized"
OVERSIZED = "redo.redo-log-oversized"
DIRTY = {
    "Innodb_buffer_pool_pages_total": 8192,
    "Innodb_buffer_pool_pages_data": 8000,
    "Innodb_buffer_pool_pages_free": 100,
    "Innodb_buffer_pool_pages_dirty": 2430,
}


def outcome(seen: Observation, rule: str) -> object:
    return judge(seen, [rule_by_id(rule)], strict=True).outcome(rule)


def mariadb(variables: Mapping[str, object], pressure: Sequence[float], digests: Sequence[HourlyDigest]) -> Observation:
    return scene(
        "mariadb 11.8.6",
        {"innodb_log_file_size": 16 * GIB, **variables},
        redo_per_second=2 * MIB,
        pressure=pressure,
        gauges=DIRTY,
        counters={"Innodb_buffer_pool_pages_flushed": 600},
        digests=digests,
    )


def high(count: int) -> tuple[HourlyDigest, ...]:
    """Hours of an age above the async point half of the time, and never at the limit."""
    made = hours(count, redo_per_hour=7 * GIB, pressure=0.91, capacity_bytes=16 * GIB)
    return tuple(replace(one, seconds_above_async=HOUR / 2) for one in made)


def test_history_from_before_its_own_proposal_was_applied_does_not_keep_a_finding() -> None:
    before = mariadb({}, [0.9, 0.93], high(48))
    [one] = judge(before, [rule_by_id(BLIND)], strict=True).recommendations
    assert one.confidence is Confidence.HIGH
    after = mariadb(dict(one.variables), [0.5], high(48))
    changed_at = after.intervals[0].started_at
    assert isinstance(outcome(replace(after, configured_at=changed_at), BLIND), Passed)
    assert isinstance(outcome(after, BLIND), Finding), "the control: without the instant the old harm is the present's"


def test_confidence_rests_on_what_was_seen_under_the_present_values() -> None:
    seen = mariadb({}, [0.9], high(48))
    changed = replace(seen, configured_at=seen.intervals[0].started_at)
    assert confidence_in(seen, [RedoPressure]).confidence is Confidence.HIGH
    assert confidence_in(changed, [RedoPressure]).confidence is Confidence.LOW
    other = mariadb({}, [0.9], tuple(replace(one, capacity_bytes=GIB) for one in high(48)))
    assert confidence_in(other, [RedoPressure]).confidence is Confidence.LOW


def test_how_much_was_written_counts_from_before_a_change_too() -> None:
    seen = mariadb({}, [0.5], high(48))
    changed = replace(seen, configured_at=seen.intervals[0].started_at)
    assert RedoLoad.read(changed) == RedoLoad.read(seen)
    assert RedoPressure.read(changed).observed_seconds == 60


def resized(*, small: int, mixed_at_limit: float, large: int, capacity: int) -> tuple[HourlyDigest, ...]:
    """Hours of a log of 1 GiB at its limit, the hour in which it was resized, and hours with the new size."""

    def made(count: int, size: int, at_limit: float) -> tuple[HourlyDigest, ...]:
        return hours(count, redo_per_hour=7 * GIB, pressure=0.3, capacity_bytes=size, at_limit_ratio=at_limit)

    each = [*made(small, GIB, 0.1), *made(1, capacity, mixed_at_limit), *made(large, capacity, 0.0)]
    last = hours(1, redo_per_hour=0, pressure=0, capacity_bytes=1)[0].hour_at
    return tuple(replace(one, hour_at=last - (len(each) - 1 - index) * HOUR) for index, one in enumerate(each))


@pytest.mark.parametrize("large", [0, 1, 30])
def test_the_redo_rule_ends_once_its_own_proposal_is_applied_whatever_the_hour_of_the_change_saw(large: int) -> None:
    before = scene(
        "mysql 8.0.33",
        {"innodb_redo_log_capacity": GIB},
        redo_per_second=2 * MIB,
        pressure=[0.8],
        digests=resized(small=48, mixed_at_limit=0.1, large=0, capacity=GIB),
    )
    [one] = judge(before, [rule_by_id(SMALL)], strict=True).recommendations
    capacity = int(one.variables["innodb_redo_log_capacity"])
    after = scene(
        "mysql 8.0.33",
        {"innodb_redo_log_capacity": capacity},
        redo_per_second=2 * MIB,
        pressure=[0.06],
        digests=resized(small=48, mixed_at_limit=0.5, large=large, capacity=capacity),
    )
    judged = judge(after, [rule_by_id(SMALL)], strict=True, holding={SMALL})
    assert isinstance(judged.outcome(SMALL), Passed)


def test_an_hour_in_which_the_log_was_resized_or_settings_changed_belongs_to_no_value() -> None:
    seen = scene("mysql 8.0.33", digests=resized(small=3, mixed_at_limit=0.5, large=2, capacity=4 * GIB))
    assert settled_digests(seen, 4 * GIB) == seen.digests[4:]
    assert settled_digests(seen, GIB) == seen.digests[:3]
    inside = replace(seen, configured_at=seen.digests[4].hour_at + 60.0)
    assert settled_digests(inside, 4 * GIB) == seen.digests[5:]


def test_a_week_that_began_before_a_change_proves_no_log_too_big() -> None:
    week = hours(170, redo_per_hour=200 * MIB, pressure=0.01, capacity_bytes=64 * GIB)
    seen = scene(
        "mysql 8.0.33",
        {"innodb_redo_log_capacity": 64 * GIB},
        redo_per_second=100_000,
        pressure=[0.01],
        digests=week,
    )
    assert isinstance(outcome(seen, OVERSIZED), Finding)
    changed = replace(seen, configured_at=float(week[-1].hour_at - DAY))
    assert isinstance(outcome(changed, OVERSIZED), NotEvaluated)
    with pytest.raises(Missing, match="a week"):
        LongPressure.read(changed)


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.id)
def test_no_rule_fires_by_harm_that_only_history_from_before_a_change_tells_of(rule: object) -> None:
    calm = scene(
        "mariadb 11.8.6",
        {"innodb_log_file_size": 16 * GIB, "innodb_flush_log_at_trx_commit": 1, "innodb_max_dirty_pages_pct_lwm": 0},
        redo_per_second=2 * MIB,
        pressure=[0.3],
        gauges={**DIRTY, "Innodb_buffer_pool_pages_free": 3000},
        counters={"Innodb_buffer_pool_pages_flushed": 150},
    )
    past = tuple(replace(one, seconds_at_limit=HOUR / 5) for one in high(170))
    changed = replace(calm, digests=past, configured_at=calm.intervals[0].started_at)

    def said(seen: Observation) -> object:
        return type(judge(seen, [rule], strict=True).outcome(rule.id))  # type: ignore[attr-defined,list-item]

    assert (said(changed) is Finding) == (said(calm) is Finding)
