"""What other advisors say wrongly about the redo log and flushing, and what is said here of the same facts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from advisor.engine.advice import prepare
from advisor.engine.evaluation import judge
from advisor.engine.outcome import Finding, NotEvaluated, Passed
from advisor.engine.recommendation import proposed_variables
from advisor.engine.scene import hours, scene, stated
from advisor.engine.units import GIB, HOUR, KIB, MIB
from advisor.mysql import redo
from advisor.mysql.values import parse_integer
from advisor.rules import all_rules, rule_by_id

UNDERSIZED = "redo.redo-log-undersized"
OVERSIZED = "redo.redo-log-oversized"
MARIADB = (
    "mariadb 10.2.11",
    "mariadb 10.5.23",
    "mariadb 10.11.18",
    "mariadb 11.4.5",
    "mariadb 11.8.6",
    "mariadb 12.3.1",
)


@pytest.mark.parametrize("server", MARIADB)
def test_mysqltuner_gives_mariadb_no_redo_advice_and_we_do(server: str) -> None:
    seen = scene(server, {"innodb_log_file_size": 8 * MIB}, redo_per_second=2 * MIB, pressure=[1.0])
    outcome = judge(seen, [rule_by_id(UNDERSIZED)], strict=True).outcome(UNDERSIZED)
    assert isinstance(outcome, Finding)
    (item,) = outcome.items
    assert proposed_variables(item.proposal).keys() == {"innodb_log_file_size"}


def test_mysqltuner_proposes_sizes_that_no_server_reads_and_ours_are_whole_bytes() -> None:
    for name, variable in (("mysql 8.0.33", "innodb_redo_log_capacity"), ("mariadb 10.11.18", "innodb_log_file_size")):
        seen = scene(name, {variable: 32 * MIB}, redo_per_second=2 * MIB, pressure=[1.0])
        advice = prepare(seen, judge(seen, [rule_by_id(UNDERSIZED)], strict=True))
        statements = [text for one in advice.recommendations for text in one.rendered.sql]
        assert statements
        for text in statements:
            assert parse_integer(text.rstrip(";").rsplit("=", 1)[1].strip()) % MIB == 0


@pytest.mark.parametrize("pool", [128 * MIB, 200 * GIB])
def test_mysqltuner_sizes_the_redo_log_by_the_pool_and_we_by_what_is_written(pool: int) -> None:
    """A quarter of a pool of 200 GiB would be 50 GiB of redo, whatever is written."""
    seen = scene(
        "mysql 8.0.33",
        {"innodb_buffer_pool_size": pool, "innodb_redo_log_capacity": GIB},
        redo_per_second=100 * KIB,
        pressure=[0.2],
        digests=hours(26, redo_per_hour=360 * MIB, pressure=0.2, capacity_bytes=GIB),
    )
    judgement = judge(seen, all_rules(), strict=True)
    assert isinstance(judgement.outcome(UNDERSIZED), Passed)
    assert all("innodb_redo_log_capacity" not in one.variables for one in judgement.recommendations)


def test_mysqltuner_and_phpmyadmin_read_bytes_since_the_start_and_a_restart_changes_nothing_here() -> None:
    """The same hour, seen by a server that is up for a month and by one that is up for two hours."""
    outcomes = set()
    for uptime in (30 * 24 * HOUR, 2 * HOUR):
        seen = scene(
            "mysql 8.0.33",
            {"innodb_redo_log_capacity": 8 * MIB},
            redo_per_second=MIB,
            pressure=[1.0],
            uptime_seconds=uptime,
        )
        (found,) = judge(seen, [rule_by_id(UNDERSIZED)], strict=True).recommendations
        outcomes.add(found.variables["innodb_redo_log_capacity"])
    assert len(outcomes) == 1


def test_log_buffers_are_not_raised_for_ever() -> None:
    """MySQLTuner raised one to 8 GiB and still reported it: without waits nothing is raised, and 8 GiB are too much."""
    for size in (16 * MIB, 256 * MIB, 8 * GIB):
        seen = scene(
            "mysql 8.0.33",
            {"innodb_log_buffer_size": size},
            counters={"Innodb_log_waits": 0, "Innodb_log_writes": 900, "Innodb_log_write_requests": 1000},
            deliberate=True,
        )
        for one in judge(seen, all_rules(), strict=True).recommendations:
            assert one.variables.get("innodb_log_buffer_size", 0) in (0, 64 * MIB)
            assert size > 256 * MIB or "innodb_log_buffer_size" not in one.variables


def test_phpmyadmin_removes_redo_files_and_we_resize_while_the_server_runs() -> None:
    for name, variable in (("mysql 8.0.33", "innodb_redo_log_capacity"), ("mariadb 10.11.18", "innodb_log_file_size")):
        seen = scene(name, {variable: 32 * MIB}, redo_per_second=2 * MIB, pressure=[1.0])
        (one,) = prepare(seen, judge(seen, [rule_by_id(UNDERSIZED)], strict=True)).recommendations
        assert not one.rendered.needs_restart


def test_pmm_and_lefred_divide_the_age_by_old_variables_and_we_by_the_capacity_in_force() -> None:
    """8.0.33 started with the old names shows 100 MiB and works with 1 GiB."""
    seen = scene(
        "mysql 8.0.33",
        {"innodb_log_file_size": 512 * MIB, "innodb_log_files_in_group": 2},
        gauges={"Innodb_redo_log_capacity_resized": GIB},
    )
    server, variables, status = seen.server, seen.snapshot.variables, seen.snapshot.status
    assert redo.capacity_in_force(server, variables, status) == GIB
    told = judge(seen, [rule_by_id("redo.redo-log-sized-by-old-names")], strict=True).recommendations
    assert [one.variables for one in told] == [{"innodb_redo_log_capacity": GIB}]
    tuned = scene(
        "mysql 8.0.33",
        {"innodb_redo_log_capacity": GIB},
        gauges={"Innodb_redo_log_capacity_resized": GIB},
    )
    assert redo.capacity_in_force(tuned.server, tuned.snapshot.variables, tuned.snapshot.status) == GIB


@pytest.mark.parametrize("server", ["mysql 5.7.22", "mysql 8.0.33", "mariadb 10.5.23"])
def test_pmm_rejects_writes_without_a_sync_and_we_accept_them(server: str) -> None:
    for method, kind in (("O_DIRECT_NO_FSYNC", Passed), ("O_DIRECT", Passed), ("fsync", Finding)):
        seen = scene(server, {"innodb_flush_method": method, "innodb_buffer_pool_size": 8 * GIB})
        for rule, expected in (("flushing.flush-method-buffered", kind), ("flushing.flush-method-unsafe", Passed)):
            outcome = judge(seen, [rule_by_id(rule)], strict=True).outcome(rule)
            assert isinstance(outcome, expected), (method, outcome)


def test_mysqltuner_asks_for_128_doublewrite_pages_whatever_is_there_and_we_only_below_what_flushing_needs() -> None:
    rule = rule_by_id("flushing.doublewrite-pages-below-default")
    for pages, kind in ((4, Finding), (64, Passed), (128, Passed), (256, Passed)):
        seen = scene(
            "mysql 8.4.3",
            {"innodb_doublewrite_pages": pages},
            counters={"Innodb_buffer_pool_pages_flushed": 500},
            deliberate=True,
        )
        assert isinstance(judge(seen, [rule], strict=True).outcome(rule.id), kind)


def test_mysqltuner_prints_one_or_two_as_a_value_and_we_one() -> None:
    seen = scene("mysql 8.0.33", {"innodb_flush_neighbors": 0}, host=stated(storage="hdd"))
    rule = rule_by_id("flushing.flush-neighbors-off-on-rotating-disk")
    (one,) = prepare(seen, judge(seen, [rule], strict=True)).recommendations
    assert one.recommendation.variables == {"innodb_flush_neighbors": 1}


def test_mysqltuner_takes_raids_of_flash_for_disks_and_we_ask() -> None:
    seen = scene("mysql 9.7.4")
    rule = rule_by_id("flushing.io-capacity-above-device")
    outcome = judge(seen, [rule], strict=True).outcome(rule.id)
    assert isinstance(outcome, NotEvaluated)
    assert "--storage" in outcome.missing[0].text


def test_percona_toolkit_warns_of_the_default_log_buffer_and_we_do_not() -> None:
    """64 MiB is MySQL's own default since 8.4."""
    seen = scene("mysql 8.4.3", {"innodb_log_buffer_size": 64 * MIB}, deliberate=True)
    for one in judge(seen, all_rules(), strict=True).recommendations:
        assert "innodb_log_buffer_size" not in one.variables


def test_percona_toolkit_flags_dirty_pages_below_the_newest_default_and_we_below_half_of_the_pool() -> None:
    rule = rule_by_id("flushing.dirty-pages-flushed-early")
    for percent, kind in ((75, Passed), (60, Passed), (10, Finding)):
        seen = scene("mysql 8.0.33", {"innodb_max_dirty_pages_pct": f"{percent}.000000"})
        assert isinstance(judge(seen, [rule], strict=True).outcome(rule.id), kind)


def test_mysqltuner_answers_waits_for_free_pages_by_io_capacity_and_we_by_what_makes_pages_free() -> None:
    """The depth says how many pages the cleaner frees in a second; innodb_io_capacity bounds another kind of work."""
    seen = scene(
        "mysql 8.0.33",
        {"innodb_buffer_pool_size": GIB},
        counters={"Innodb_buffer_pool_wait_free": 9, "Innodb_pages_read": 2},
    )
    (found,) = judge(seen, [rule_by_id("flushing.free-page-waits")], strict=True).recommendations
    assert found.variables == {"innodb_lru_scan_depth": 1536}


def test_mysqltuner_raises_purge_threads_by_the_history_and_we_name_the_transaction() -> None:
    seen = scene("mariadb 10.11.18", gauges={"Innodb_history_list_length": 900_000})
    (found,) = judge(seen, [rule_by_id("flushing.history-list-growing")], strict=True).recommendations
    assert found.variables == {}


def test_mysqltuner_flags_change_buffering_everywhere_and_we_only_on_flash() -> None:
    rule = rule_by_id("flushing.change-buffering-on-flash")
    for storage, kind in (("ssd", Finding), ("hdd", Passed), (None, NotEvaluated)):
        seen = scene("mysql 8.0.33", {"innodb_change_buffering": "all"}, host=stated(storage=storage))
        assert isinstance(judge(seen, [rule], strict=True).outcome(rule.id), kind)


def test_a_recommended_redo_size_is_not_recommended_again() -> None:
    """ "Should be X but is X" (MySQLTuner's issues 609, 657 and others): what was applied is silent."""
    seen = scene("mariadb 10.11.18", {"innodb_log_file_size": 8 * MIB}, redo_per_second=2 * MIB, pressure=[1.0])
    (found,) = judge(seen, [rule_by_id(UNDERSIZED)], strict=True).recommendations
    after = scene(
        "mariadb 10.11.18",
        dict(found.variables),
        redo_per_second=2 * MIB,
        pressure=[0.02],
    )
    judgement = judge(replace(after, digests=()), [rule_by_id(UNDERSIZED), rule_by_id(OVERSIZED)], strict=True)
    assert judgement.recommendations == ()
