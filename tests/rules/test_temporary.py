"""What stops a temporary table differs by version, and so does what is proposed."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from advisor.engine.evaluation import judge
from advisor.engine.outcome import Finding, NotApplicable, Outcome, Passed
from advisor.engine.recommendation import proposed_variables
from advisor.engine.scene import scene
from advisor.engine.units import MIB
from advisor.mysql.proposal import Value
from advisor.rules import rule_by_id

ON_DISK = {"Created_tmp_tables": 10, "Created_tmp_disk_tables": 6}


def _outcome(
    rule: str, server: str, counters: Mapping[str, float], variables: Mapping[str, object] | None = None
) -> tuple[Outcome, dict[str, Value]]:
    seen = scene(server, variables, counters=counters, deliberate=True)
    outcome = judge(seen, [rule_by_id(rule)], strict=True).outcome(rule)
    items = outcome.items if isinstance(outcome, Finding) else ()
    return outcome, {name: value for item in items for name, value in proposed_variables(item.proposal).items()}


@pytest.mark.parametrize(
    ("server", "raised"),
    [
        ("mysql 5.7.22", {"tmp_table_size", "max_heap_table_size"}),
        ("mysql 8.0.12", set()),
        ("mysql 8.0.33", {"tmp_table_size"}),
        ("mysql 9.7.4", {"tmp_table_size"}),
        ("mariadb 10.2.11", {"tmp_table_size", "max_heap_table_size"}),
        ("mariadb 11.8.6", {"tmp_table_size", "max_heap_table_size"}),
    ],
)
def test_what_is_raised_is_what_counts_on_that_version(server: str, raised: set[str]) -> None:
    outcome, proposed = _outcome("temporary.temporary-tables-on-disk", server, ON_DISK)
    assert isinstance(outcome, Finding)
    assert set(proposed) == raised
    assert set(proposed.values()) <= {32 * MIB}


def test_a_heap_limit_that_is_larger_already_is_left_alone() -> None:
    _, proposed = _outcome(
        "temporary.temporary-tables-on-disk", "mariadb 10.11.18", ON_DISK, {"max_heap_table_size": 256 * MIB}
    )
    assert proposed == {"tmp_table_size": 32 * MIB}


def test_a_server_that_tells_another_reason_is_not_told_to_raise_a_size() -> None:
    counters = {**ON_DISK, "Count_hit_tmp_table_size": 1, "TempTable_count_hit_max_ram": 0}
    outcome, proposed = _outcome("temporary.temporary-tables-on-disk", "mysql 9.7.4", counters)
    assert isinstance(outcome, Finding)
    assert proposed == {}


@pytest.mark.parametrize(("disk", "expected"), [(1.0, Finding), (0.98, Passed)])
def test_one_disk_table_a_second_is_the_boundary(disk: float, expected: type[Outcome]) -> None:
    outcome, _ = _outcome(
        "temporary.temporary-tables-on-disk",
        "mysql 8.0.33",
        {"Created_tmp_tables": 3, "Created_tmp_disk_tables": disk},
    )
    assert isinstance(outcome, expected)


def test_the_memory_engine_on_mysql_eight_is_one_finding_and_not_two() -> None:
    memory = {"internal_tmp_mem_storage_engine": "MEMORY"}
    by_size, _ = _outcome("temporary.temporary-tables-on-disk", "mysql 8.0.33", ON_DISK, memory)
    by_engine, proposed = _outcome("temporary.memory-engine-for-temporary-tables", "mysql 8.0.33", ON_DISK, memory)
    assert isinstance(by_size, Passed)
    assert isinstance(by_engine, Finding)
    assert proposed == {"internal_tmp_mem_storage_engine": "TempTable"}


def test_servers_without_the_counter_of_shared_memory_are_not_asked() -> None:
    outcome, _ = _outcome("temporary.temptable-memory-exhausted", "mysql 8.0.33", ON_DISK)
    assert isinstance(outcome, NotApplicable)
