"""What other advisors say wrongly about memory, connections and caches, and what is said here of the same facts."""

from __future__ import annotations

import pytest

from advisor.engine.advice import prepare
from advisor.engine.evaluation import judge
from advisor.engine.observation import Observation
from advisor.engine.outcome import Finding, NotEvaluated, Outcome, Passed
from advisor.engine.recommendation import proposed_variables
from advisor.engine.scene import inspected, scene, stated
from advisor.engine.units import DAY, GIB, HOUR, KIB, MIB
from advisor.mysql.proposal import Value
from advisor.rules import all_rules, rule_by_id

WASTED = {"Innodb_buffer_pool_read_ahead": 900, "Innodb_buffer_pool_read_ahead_evicted": 500}


def said(seen: Observation, rule: str) -> Outcome:
    return judge(seen, [rule_by_id(rule)], strict=True).outcome(rule)


def everything_proposed(seen: Observation) -> dict[str, Value]:
    values: dict[str, Value] = {}
    for one in judge(seen, all_rules(), strict=True).recommendations:
        values |= one.variables
    return values


@pytest.mark.parametrize("named", ["mysql 8.0.33", "mysql 9.7.4", "mariadb 10.11.18"])
def test_mysqltuner_sets_the_key_buffer_to_zero_where_myisam_tables_are_and_we_never_do(named: str) -> None:
    """Nor do we ask for one where there is none, as another peer does."""
    busy = scene(
        named,
        {"key_buffer_size": 8 * MIB, "key_cache_block_size": 1024},
        gauges={"Key_blocks_used": 6000, "Key_blocks_unused": 600},
        counters={"Key_read_requests": 9000, "Key_write_requests": 10, "Key_reads": 5},
        deliberate=True,
    )
    for rule in ("memory.key-buffer-oversized", "memory.key-buffer-undersized"):
        assert isinstance(said(busy, rule), Passed), rule
    idle = scene(
        named,
        {"key_buffer_size": 4 * GIB, "key_cache_block_size": 1024},
        gauges={"Key_blocks_used": 0, "Key_blocks_unused": 4_000_000},
        counters={"Key_read_requests": 0, "Key_write_requests": 0, "Key_reads": 0},
        deliberate=True,
    )
    assert int(everything_proposed(idle)["key_buffer_size"]) >= 32 * MIB


@pytest.mark.parametrize("present", [8, 40, 56, 63])
def test_mysqltuner_lowers_the_read_ahead_threshold_where_it_has_to_be_raised_and_we_raise_it(present: int) -> None:
    seen = scene("mysql 8.0.33", {"innodb_read_ahead_threshold": present}, counters=WASTED, deliberate=True)
    outcome = said(seen, "memory.read-ahead-evicted")
    assert isinstance(outcome, Finding)
    (item,) = outcome.items
    assert int(proposed_variables(item.proposal)["innodb_read_ahead_threshold"]) > present


@pytest.mark.parametrize("instances", [1, 2, 3, 5, 7, 8, 16])
def test_mysqltuner_wants_one_very_number_of_pool_instances_and_we_let_every_sound_one_be(instances: int) -> None:
    seen = scene(
        "mysql 8.0.33",
        {
            "innodb_buffer_pool_size": 16 * GIB,
            "innodb_buffer_pool_chunk_size": 128 * MIB,
            "innodb_buffer_pool_instances": instances,
        },
    )
    assert isinstance(said(seen, "memory.buffer-pool-instances-misfit"), Passed)


def test_mysqltuner_multiplies_buffers_by_all_connections_and_our_budget_counts_what_is_used() -> None:
    """Reports of 8,097 % of memory come from that product; 5,000 sessions that nobody opened take nothing."""
    seen = scene(
        "mysql 8.0.33",
        {"max_connections": 5000, "sort_buffer_size": 2 * MIB, "join_buffer_size": MIB, "open_files_limit": 50_000},
        status={"Max_used_connections": 30, "Threads_connected": 10},
        host=stated(memory_bytes=8 * GIB),
    )
    assert isinstance(said(seen, "memory.buffer-pool-exceeds-memory"), Passed)


def test_mysqltuner_takes_its_own_machines_memory_for_that_of_a_remote_server_and_we_say_what_is_missing() -> None:
    seen = scene("mysql 8.0.33", {"innodb_buffer_pool_size": 900 * GIB}, status={"Max_used_connections": 30})
    for rule in ("memory.buffer-pool-exceeds-memory", "memory.memory-budget-exceeded"):
        outcome = said(seen, rule)
        assert isinstance(outcome, NotEvaluated)
        assert any("--host-memory" in remedy.text for remedy in outcome.missing)


def test_mysqltuner_switches_name_look_ups_off_and_breaks_grants_and_we_read_the_accounts_first() -> None:
    def seen(host: str) -> Observation:
        return scene(
            "mariadb 10.11.18",
            {"skip_name_resolve": "OFF"},
            counters={"Connections": 20},
            inspection=inspected(accounts=[{"user": "shop", "host": host, "is_role": "0"}]),
            deliberate=True,
        )

    rule = "connections.names-resolved-for-nothing"
    for name in ("web1.example.com", "%.example.com", "db-host"):
        assert isinstance(said(seen(name), rule), Passed), name
    for address in ("%", "10.0.0.7", "10.0.%", "10.0.0.0/255.255.0.0", "localhost", "::1", "fe80::1"):
        assert isinstance(said(seen(address), rule), Finding), address
    blind = scene("mariadb 10.11.18", {"skip_name_resolve": "OFF"}, counters={"Connections": 20}, deliberate=True)
    assert isinstance(said(blind, rule), NotEvaluated)


def test_mysqltuner_prints_sizes_with_words_and_every_statement_of_ours_is_one() -> None:
    """Its join_buffer_size comes as a sentence in brackets, max_connections = 151 where it is 151 already."""
    seen = scene(
        "mysql 8.0.33",
        {"join_buffer_size": 300 * MIB, "max_connections": 151, "open_files_limit": 20_000, "table_open_cache": 4000},
        status={"Max_used_connections": 140, "Threads_connected": 20},
    )
    rules = [rule_by_id("memory.per-connection-buffers-large"), rule_by_id("connections.connections-near-limit")]
    advice = prepare(seen, judge(seen, rules, strict=True))
    statements = [text for one in advice.recommendations for text in one.rendered.sql]
    assert len(statements) == 2
    for text in statements:
        assert text.rstrip(";").rsplit("=", 1)[1].strip().isdigit(), text
        assert "151" not in text


def test_phpmyadmins_thread_cache_hit_ratio_is_never_below_99_and_ours_counts_threads() -> None:
    seen = scene(
        "mysql 8.0.33",
        {"thread_cache_size": 0, "max_connections": 151},
        status={"Max_used_connections": 5},
        counters={"Threads_created": 40, "Connections": 40},
        deliberate=True,
    )
    assert isinstance(said(seen, "connections.thread-cache-small"), Finding)


def test_pmm_warns_of_the_adaptive_hash_index_in_every_branch_and_we_where_it_answers_nothing() -> None:
    def seen(answered: float, asked: float) -> Observation:
        counters = {"adaptive_hash_searches": answered, "adaptive_hash_searches_btree": asked}
        return scene("mysql 8.0.33", {"innodb_adaptive_hash_index": "ON"}, counters=counters, deliberate=True)

    rule = "memory.adaptive-hash-index-ineffective"
    assert isinstance(said(seen(9000, 1000), rule), Passed)
    assert isinstance(said(seen(10, 50), rule), Passed)
    assert isinstance(said(seen(100, 9000), rule), Finding)


def test_averages_since_the_start_flip_with_a_restart_and_rates_wait_for_a_window() -> None:
    """Peers divide Connections and Opened_tables by the uptime: a young server gets advice from its first minute."""
    young = scene(
        "mysql 8.0.33",
        status={
            "Opened_tables": 900,
            "Open_tables": 900,
            "Threads_created": 500,
            "Connections": 600,
            "Max_used_connections": 9,
        },
        uptime_seconds=HOUR,
        seconds=0,
    )
    for rule in ("caches.table-open-cache-misses", "connections.thread-cache-small"):
        assert isinstance(said(young, rule), NotEvaluated), rule


def test_a_default_server_with_two_days_of_life_is_told_nothing_about_memory_connections_caches_or_locks() -> None:
    for named in ("mysql 8.0.33", "mysql 9.7.4", "mariadb 10.11.18", "mariadb 10.2.11"):
        seen = scene(
            named,
            {"open_files_limit": 20_000},
            status={"Max_used_connections": 20, "Threads_connected": 10},
            counters={"Questions": 300, "Connections": 1, "Threads_created": 0.01, "Opened_tables": 0.1},
            uptime_seconds=2 * DAY,
            deliberate=True,
            host=stated(memory_bytes=16 * GIB, cpus=8),
        )
        mine = [rule for rule in all_rules() if rule.topic in ("memory", "connections", "caches", "locks")]
        found = {one.rule for one in judge(seen, mine, strict=True).recommendations}
        assert found == set(), (named, found)


def test_the_same_threshold_of_a_small_server_is_not_that_of_a_large_one() -> None:
    """One size for all is what peers' percentages of memory come from: the same pool on two machines."""
    for memory, kind in ((4 * GIB, Finding), (64 * GIB, Passed)):
        seen = scene(
            "mysql 8.0.33",
            {"innodb_buffer_pool_size": 4 * GIB, "read_buffer_size": 128 * KIB},
            status={"Max_used_connections": 30},
            host=stated(memory_bytes=memory),
        )
        assert isinstance(said(seen, "memory.buffer-pool-exceeds-memory"), kind)
