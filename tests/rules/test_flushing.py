"""What rules about flushing say together, and where they have nothing to say."""

from __future__ import annotations

from dataclasses import replace

import pytest

from advisor.engine.evaluation import judge
from advisor.engine.joining import variables_twice
from advisor.engine.observation import Observation
from advisor.engine.outcome import Finding, NotApplicable, NotEvaluated, Passed, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import hours, scene, stated
from advisor.engine.units import GIB, HOUR, MIB
from advisor.mysql.snapshot import RemedyKind
from advisor.mysql.version import Distribution
from advisor.rules import all_rules, rule_by_id

BLIND = rule_by_id("flushing.adaptive-flushing-blind")
EARLY = rule_by_id("flushing.dirty-pages-flushed-early")
LIMIT = rule_by_id("flushing.dirty-pages-limit-reached")
_DIRTY = {
    "Innodb_buffer_pool_pages_total": 8192,
    "Innodb_buffer_pool_pages_data": 8000,
    "Innodb_buffer_pool_pages_free": 100,
    "Innodb_buffer_pool_pages_dirty": 7200,
}


def run_by(distribution: Distribution, seen: Observation) -> Observation:
    identity = seen.snapshot.identity
    version = replace(identity.version, distribution=distribution)
    return replace(seen, snapshot=replace(seen.snapshot, identity=replace(identity, version=version)))


def drifting(*, pressure: list[float], seconds: int = 60, low_water: str = "0.000000") -> Observation:
    """MariaDB whose flushing nothing steers: full of dirty pages, flushing less than innodb_io_capacity."""
    return scene(
        "mariadb 11.4.5",
        {"innodb_log_file_size": 4 * GIB, "innodb_max_dirty_pages_pct_lwm": low_water},
        redo_per_second=2 * MIB,
        pressure=pressure,
        seconds=seconds,
        gauges=_DIRTY,
        counters={"Innodb_buffer_pool_pages_flushed": 120},
    )


@pytest.mark.parametrize(
    "rule", [rule for rule in all_rules() if rule.topic in ("flushing", "redo")], ids=lambda rule: rule.id
)
def test_no_rule_about_redo_or_flushing_says_anything_of_aurora(rule: Rule) -> None:
    for example in rule.examples:
        if example.seen.server.is_mysql:
            outcome = judge(run_by(Distribution.AURORA, example.seen), [rule], strict=True).outcome(rule.id)
            assert isinstance(outcome, NotApplicable), (example.title, outcome)


def test_rds_flushes_its_own_pages_and_is_judged() -> None:
    seen = scene("mysql 8.0.33", {"innodb_max_dirty_pages_pct_lwm": "40.000000"})
    outcome = judge(run_by(Distribution.RDS, seen), [EARLY], strict=True).outcome(EARLY.id)
    assert isinstance(outcome, Finding)


def test_a_blind_flushing_that_is_open_is_let_go_at_two_percent_of_the_time_and_not_before() -> None:
    three, one = (drifting(pressure=[0.9, *[0.5] * calm], seconds=HOUR) for calm in (32, 99))
    assert isinstance(judge(three, [BLIND], strict=True).outcome(BLIND.id), Passed)
    assert isinstance(judge(three, [BLIND], holding={BLIND.id}, strict=True).outcome(BLIND.id), Finding)
    assert isinstance(judge(one, [BLIND], holding={BLIND.id}, strict=True).outcome(BLIND.id), Passed)


def test_both_rules_about_the_low_water_mark_of_mariadb_want_the_same_and_are_one_recommendation() -> None:
    judgement = judge(drifting(pressure=[0.9]), all_rules(), strict=True)
    (found,) = [one for one in judgement.recommendations if "innodb_max_dirty_pages_pct_lwm" in one.variables]
    assert {BLIND.id, LIMIT.id} <= set(found.rules)
    assert found.overruled == ()
    assert found.variables["innodb_max_dirty_pages_pct_lwm"] == 20.0
    assert found.severity is Severity.NOTICE
    assert variables_twice(judgement.recommendations) == set()


def test_what_lowers_an_eager_low_water_mark_does_not_call_the_next_rule() -> None:
    eager = drifting(pressure=[0.9], low_water="40.000000")
    (found,) = judge(eager, [EARLY, BLIND], strict=True).recommendations
    after = drifting(pressure=[0.9], low_water=f"{float(str(found.variables['innodb_max_dirty_pages_pct_lwm'])):.6f}")
    assert judge(after, [EARLY, BLIND], strict=True).recommendations == ()


TOO_HIGH = rule_by_id("flushing.io-capacity-max-too-high")


def stock(*, count: int = 26, latency: int | None = 14_000, busy: float = 0.0) -> Observation:
    """MySQL 9.7 as installed at 150 pages a second; ``busy``: pages a second in the last of its hours."""
    calm = hours(count, redo_per_hour=100 * MIB, pressure=0.05, capacity_bytes=GIB, pages_flushed_p95=150)
    peak = hours(1, redo_per_hour=100 * MIB, pressure=0.05, capacity_bytes=GIB, pages_flushed_p95=busy)
    return scene(
        "mysql 9.7.4",
        {"innodb_redo_log_capacity": GIB},
        redo_per_second=100 * 1024,
        pressure=[0.05],
        seconds=2 * HOUR,
        every=60,
        counters={"Innodb_buffer_pool_pages_flushed": 150},
        digests=(*calm[:-1], *peak) if busy else calm,
        host=stated(write_latency_microseconds=latency),
    )


def test_a_quiet_night_does_not_lower_a_default_and_says_what_is_missing() -> None:
    night = judge(stock(count=2), [TOO_HIGH], strict=True).outcome(TOO_HIGH.id)
    assert isinstance(night, NotEvaluated)
    assert [one.kind for one in night.missing] == [RemedyKind.WINDOW]
    unknown = judge(stock(latency=None), [TOO_HIGH], strict=True).outcome(TOO_HIGH.id)
    assert isinstance(unknown, NotEvaluated)
    assert [one.kind for one in unknown.missing] == [RemedyKind.HOST_FACT]


def test_the_busiest_hour_of_the_day_counts_and_not_the_last_ones() -> None:
    assert isinstance(judge(stock(), [TOO_HIGH], strict=True).outcome(TOO_HIGH.id), Finding)
    assert isinstance(judge(stock(busy=15_000), [TOO_HIGH], strict=True).outcome(TOO_HIGH.id), Passed)
