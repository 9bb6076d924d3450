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


def test_a_maximum_that_is_no_multiple_is_left_alone_where_the_device_is_slow() -> None:
    """What another rule would lower there is raised by none."""
    rule = rule_by_id("flushing.io-capacity-max-not-multiple")
    for latency, kind in ((None, Finding), (2_000, Finding), (14_000, Passed)):
        seen = scene(
            "mysql 8.0.33",
            {"innodb_io_capacity": 8000, "innodb_io_capacity_max": 15_000},
            host=stated(write_latency_microseconds=latency),
        )
        assert isinstance(judge(seen, [rule], strict=True).outcome(rule.id), kind)


def test_what_is_lowered_for_a_rotating_disk_is_raised_by_no_other_rule() -> None:
    seen = scene(
        "mysql 9.7.4",
        {"innodb_redo_log_capacity": 8 * GIB},
        redo_per_second=4 * MIB,
        pressure=[1.0],
        gauges=_DIRTY,
        counters={"Innodb_buffer_pool_pages_flushed": 19_000},
        host=stated(storage="hdd"),
    )
    judgement = judge(seen, all_rules(), strict=True)
    wanted = [one.variables for one in judgement.recommendations if "innodb_io_capacity" in one.variables]
    assert wanted == [{"innodb_io_capacity": 200, "innodb_io_capacity_max": 2000}]


def test_the_history_is_told_by_full_snapshots_where_no_poll_reads_it() -> None:
    """MySQL 8.0.30 and later tell the age by status variables, so that polls read no innodb_metrics there."""
    rule = rule_by_id("flushing.history-list-growing")
    seen = scene("mysql 8.0.33", gauges={"trx_rseg_history_len": 300_000})
    polls = tuple(
        replace(one, current=replace(one.current, values={"Uptime": 1}), previous=replace(one.previous, values={}))
        for one in seen.intervals
    )
    assert isinstance(judge(replace(seen, intervals=polls), [rule], strict=True).outcome(rule.id), Finding)
    nothing = judge(replace(seen, intervals=polls, counted=()), [rule], strict=True).outcome(rule.id)
    assert isinstance(nothing, NotEvaluated)


def test_one_depth_fits_all_instances_of_mysql_and_the_one_of_mariadb() -> None:
    """Eight instances of MySQL keep eight times the depth free; MariaDB 10.5 shows their number and has one."""
    rule = rule_by_id("flushing.free-page-waits")
    waits = {"Innodb_buffer_pool_wait_free": 9, "Innodb_pages_read": 2}
    pool = {"innodb_buffer_pool_size": 2 * GIB, "innodb_buffer_pool_instances": 8}
    (mysql,) = judge(scene("mysql 8.0.33", pool, counters=waits), [rule], strict=True).recommendations
    (mariadb,) = judge(scene("mariadb 10.5.23", pool, counters=waits), [rule], strict=True).recommendations
    assert mysql.variables == {"innodb_lru_scan_depth": 1536}
    assert mariadb.variables == {"innodb_lru_scan_depth": 2304}
    crowded = scene("mysql 8.0.33", pool | {"innodb_lru_scan_depth": 2048}, counters=waits)
    (asked,) = judge(crowded, [rule], strict=True).recommendations
    assert asked.variables == {}


def test_a_delay_that_is_not_set_is_no_limit_and_one_that_is_slows_writers() -> None:
    silent, slow = (
        rule_by_id("flushing.purge-lag-limit-without-effect"),
        rule_by_id("flushing.writes-delayed-by-purge-lag"),
    )
    for delay, kinds in ((0, (Finding, Passed)), (20_000, (Passed, Finding))):
        seen = scene(
            "mysql 8.0.33",
            {"innodb_max_purge_lag": 1000, "innodb_max_purge_lag_delay": delay},
            gauges={"trx_rseg_history_len": 50_000},
        )
        judgement = judge(seen, [silent, slow], strict=True)
        assert isinstance(judgement.outcome(silent.id), kinds[0])
        assert isinstance(judgement.outcome(slow.id), kinds[1])


def test_held_back_flushing_waits_for_a_log_that_can_be_bigger() -> None:
    rule = rule_by_id("flushing.flush-sync-off")
    for free, kind in ((None, NotEvaluated), (32 * MIB, Finding)):
        seen = scene(
            "mysql 8.0.33",
            {"innodb_flush_sync": "OFF", "innodb_redo_log_capacity": 16 * MIB},
            redo_per_second=2 * MIB,
            pressure=[1.0],
            host=stated(free_disk_bytes=free),
        )
        assert isinstance(judge(seen, [rule], strict=True).outcome(rule.id), kind)
