"""The budget of memory, and the numbers that several rules have to agree on."""

from __future__ import annotations

from typing import cast

import pytest

from advisor.engine.evaluation import judge
from advisor.engine.facts.caches import FileLimit
from advisor.engine.facts.connections import ConnectionLimit
from advisor.engine.facts.memory import BufferPool, MemoryUse
from advisor.engine.memory import CONNECTION_BYTES, memory_need
from advisor.engine.scene import inspected, scene, stated
from advisor.engine.units import GIB, KIB, MIB
from advisor.rules import rule_by_id


@pytest.mark.parametrize("pool", [128 * MIB, 7 * GIB])
def test_the_lines_of_the_budget_add_up_to_what_is_expected(pool: int) -> None:
    variables = {
        "innodb_log_buffer_size": str(64 * MIB),
        "key_buffer_size": str(8 * MIB),
        "query_cache_size": str(16 * MIB),
        "performance_schema": "ON",
        "table_open_cache": "4000",
        "sort_buffer_size": str(32 * MIB),
    }
    need = memory_need(variables, 120, threads_running=5)
    assert sum(line.bytes for line in need.budget(pool)) == round(need.expected_bytes(pool))
    assert {line.name for line in need.items} >= {"query_cache_size", "performance_schema", "table caches"}


def test_usual_buffers_are_part_of_a_connection_and_large_ones_count_for_each_statement_at_work() -> None:
    usual = memory_need({"sort_buffer_size": str(2 * MIB)}, 10, threads_running=8)
    large = memory_need({"sort_buffer_size": str(64 * MIB)}, 10, threads_running=8)
    assert usual.statement_bytes == 0
    assert large.statement_bytes == 8 * 60 * MIB


def test_what_performance_schema_says_of_itself_counts_instead_of_what_is_usual() -> None:
    def other_bytes(**more: object) -> int:
        return MemoryUse.read(scene("mysql 8.0.33", status={"Max_used_connections": 1}, **more)).need.other_bytes  # type: ignore[arg-type]

    told = inspected(performance_schema_memory=[{"bytes": str(700 * MIB)}])
    assert other_bytes(inspection=told) - other_bytes() == 500 * MIB


def test_rules_that_refuse_and_near_limit_propose_one_number() -> None:
    seen = scene(
        "mysql 8.0.33",
        {"max_connections": 200, "open_files_limit": 20_000, "table_open_cache": 4000},
        status={"Max_used_connections": 201, "Threads_connected": 200},
        counters={"Connection_errors_max_connections": 2, "Connections": 9},
        deliberate=True,
    )
    rules = [rule_by_id(f"connections.connections-{name}") for name in ("near-limit", "refused")]
    (one,) = judge(seen, rules, strict=True).recommendations
    assert one.variables == {"max_connections": 270}
    assert len(one.rules) == 2
    assert one.overruled == ()


def test_connections_are_raised_only_as_far_as_memory_and_files_have_room() -> None:
    def raised(**more: object) -> int:
        variables = {"max_connections": 1000, "open_files_limit": 20_000, "table_open_cache": 4000}
        variables |= cast(dict[str, int], more.pop("variables", {}))
        status = {"Max_used_connections": 1000, "Threads_connected": 900}
        return ConnectionLimit.read(scene("mysql 8.0.33", variables, status=status, **more)).raised  # type: ignore[arg-type]

    assert raised() == 1300
    assert raised(variables={"open_files_limit": 9290}) == 1280
    assert raised(variables={"open_files_limit": 9210}) == 1000, "a little more would be as near as before"
    assert raised(host=stated(memory_bytes=2 * GIB)) == 1000
    memory = 3 * GIB
    need = MemoryUse.read(scene("mysql 8.0.33", status={"Max_used_connections": 1000})).need
    limit = raised(host=stated(memory_bytes=memory))
    assert need.with_connections(128 * MIB, limit) <= 0.95 * memory or limit == 1000
    assert CONNECTION_BYTES == 2 * MIB


def test_one_limit_of_open_files_holds_for_tables_and_connections() -> None:
    seen = scene(
        "mysql 8.0.33",
        {"table_open_cache": 9000, "max_connections": 3000, "open_files_limit": 20_000},
        gauges={"Open_tables": 9000, "Open_files": 2},
        counters={"Opened_tables": 90, "Table_open_cache_overflows": 80},
        deliberate=True,
    )
    files = FileLimit.read(seen)
    assert files.promised == 21_010
    rules = [rule_by_id("caches.open-files-limit-low"), rule_by_id("caches.table-open-cache-misses")]
    proposed = [one.variables for one in judge(seen, rules, strict=True).recommendations]
    assert sorted(map(len, proposed)) == [0, 1], "the cache waits for the limit"
    assert {"open_files_limit": 22_000} in proposed


def test_buffers_of_a_statement_are_no_business_of_small_values() -> None:
    assert memory_need({"sort_buffer_size": str(256 * KIB)}, 0, threads_running=500).statement_bytes == 0


def test_a_pool_of_several_instances_is_never_told_to_go_below_a_gibibyte() -> None:
    """Servers refuse that while they run (error 1231, seen on MariaDB 10.2), so that there is nothing to propose."""
    many = scene(
        "mysql 8.0.33",
        {"innodb_buffer_pool_size": 2 * GIB, "innodb_buffer_pool_instances": 8},
        status={"Max_used_connections": 10},
        host=stated(memory_bytes=GIB),
    )
    assert BufferPool.read(many).grown_to(200 * MIB, 500 * MIB) == GIB
    rule = rule_by_id("memory.buffer-pool-exceeds-memory")
    (one,) = judge(many, [rule], strict=True).recommendations
    assert one.variables == {}
