"""What other advisors say wrongly about sorts, joins and logs, and what is said here of the same facts."""

from __future__ import annotations

import pytest

from advisor.engine.evaluation import judge
from advisor.engine.outcome import Finding, NotEvaluated, Passed
from advisor.engine.recommendation import proposed_variables
from advisor.engine.scene import scene
from advisor.engine.units import HOUR, MIB
from advisor.rules import all_rules, rule_by_id

RULES = [rule for rule in all_rules() if rule.topic in ("statements", "temporary")]
SERVERS = ("mysql 5.7.22", "mysql 8.0.33", "mysql 9.7.4", "mariadb 10.2.11", "mariadb 11.8.6")
SPILLING = {
    "Sort_merge_passes": 900,
    "Sort_range": 10,
    "Sort_scan": 90,
    "Sort_rows": 900_000,
    "Select_full_join": 50,
    "Select_range_check": 5,
    "Select_scan": 90,
    "Handler_read_rnd_next": 2_000_000,
    "Handler_read_first": 0,
}


@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize("present", [256 * 1024, 16 * MIB, 300 * MIB])
def test_mysqltuner_raises_join_and_sort_buffers_without_limit_and_we_raise_neither(server: str, present: int) -> None:
    """Issues 687, 671, 651 and 434 of MySQLTuner: up to 300 MB for each session, and again at the next run."""
    seen = scene(
        server,
        {"join_buffer_size": present, "sort_buffer_size": present},
        counters=SPILLING,
        deliberate=True,
    )
    judgement = judge(seen, RULES, strict=True)
    for rule in ("statements.sort-merge-passes", "statements.joins-without-index"):
        outcome = judgement.outcome(rule)
        assert isinstance(outcome, Finding)
        assert all(proposed_variables(item.proposal) == {} for item in outcome.items)


@pytest.mark.parametrize("server", SERVERS)
def test_tuners_count_since_the_start_and_a_past_night_says_nothing_of_now(server: str) -> None:
    """MT 27 to 30, PMA and tuning-primer: sums since the start that no longer grow are no fault of this hour."""
    seen = scene(server, counters=dict.fromkeys(SPILLING, 0), seconds=HOUR, every=60)
    assert seen.snapshot.status["Sort_merge_passes"] == "1000000"
    judgement = judge(seen, RULES, strict=True)
    assert isinstance(judgement.outcome("statements.sort-merge-passes"), Passed)
    assert isinstance(judgement.outcome("statements.joins-without-index"), Passed)


def test_tuners_judge_a_server_that_has_just_started_and_we_wait_for_a_window() -> None:
    seen = scene("mysql 8.0.33", counters=SPILLING, seconds=120, uptime_seconds=600)
    outcome = judge(seen, RULES, strict=True).outcome("statements.sort-merge-passes")
    assert isinstance(outcome, NotEvaluated)


@pytest.mark.parametrize("server", ["mysql 8.0.33", "mysql 9.7.4"])
def test_pmm_calls_tmp_table_size_above_max_heap_table_size_an_error_where_only_one_counts(server: str) -> None:
    """Fault 23: TempTable never looks at max_heap_table_size."""
    seen = scene(
        server,
        {"tmp_table_size": 64 * MIB},
        counters={"Created_tmp_tables": 10, "Created_tmp_disk_tables": 1},
        deliberate=True,
    )
    judgement = judge(seen, RULES, strict=True)
    assert not any(one.rule.startswith("temporary.") for one in judgement.recommendations)


@pytest.mark.parametrize("server", SERVERS)
def test_tuners_raise_temporary_tables_to_any_size_and_we_stop_at_sixty_four_mebibytes(server: str) -> None:
    """MT 29, Releem: where 64 MiB are there already, the statements are the matter."""
    seen = scene(
        server,
        {"tmp_table_size": 64 * MIB, "max_heap_table_size": 64 * MIB},
        counters={"Created_tmp_tables": 100, "Created_tmp_disk_tables": 90},
        deliberate=True,
    )
    outcome = judge(seen, RULES, strict=True).outcome("temporary.temporary-tables-on-disk")
    assert isinstance(outcome, Finding)
    assert proposed_variables(outcome.items[0].proposal) == {}


def test_mysqltuner_complains_of_a_slow_log_that_is_off_on_every_server_and_we_where_something_is_slow() -> None:
    """MT 19 and 20, PMA: the default of both is no fault while nothing is slow."""
    rules = [rule_by_id("logging.slow-log-off"), rule_by_id("logging.slow-log-threshold-high")]
    for server in SERVERS:
        calm = judge(scene(server, counters={"Slow_queries": 0}, deliberate=True), rules, strict=True)
        assert calm.recommendations == ()
        slow = judge(scene(server, counters={"Slow_queries": 1}, deliberate=True), rules, strict=True)
        assert [one.rule for one in slow.recommendations] == ["logging.slow-log-off"]
