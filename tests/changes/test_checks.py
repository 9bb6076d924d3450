"""What is looked at before a plan is reviewed: each check fires where it should and is silent where it should."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from advisor.changes import checks as checking
from advisor.changes.checks import Check
from advisor.changes.live import LiveFacts
from advisor.changes.said import english

from .building import MARIADB, Desk, request_for

GIB = 1 << 30


def checks(desk: Desk, values: dict[str, str], **further: Any) -> list[Check]:
    request = request_for(desk, values, **further)
    return checking.checks(request, desk.live.facts)  # type: ignore[arg-type]


def bad(found: list[Check]) -> set[str]:
    return {one.id for one in found if not one.ok}


def warned(found: list[Check]) -> set[str]:
    return {one.id for one in found if one.warns}


def test_a_sound_change_passes_every_check(desk: Desk) -> None:
    found = checks(desk, {"innodb_io_capacity": "700"})
    assert bad(found) == set()
    assert {one.id for one in found} >= {"readable", "identity", "values", "companions", "others"}


def test_a_server_that_does_not_answer_is_named_with_the_reason(desk: Desk) -> None:
    desk.live.fail(desk.server, "The name db1 could not be resolved.")
    found = checks(desk, {"innodb_io_capacity": "700"})
    assert bad(found) == {"readable"}
    assert "could not be resolved" in " ".join(english(one.message) for one in found)


def test_another_server_than_was_watched_is_not_changed(desk: Desk) -> None:
    desk.live.become(desk.server, unique_id="another", hostname="db2")
    assert bad(checks(desk, {"innodb_io_capacity": "700"})) == {"identity"}


def test_one_server_under_two_names_is_found_out(desk: Desk) -> None:
    twin = desk.add_server("twin")
    assert bad(checks(desk, {"innodb_io_capacity": "700"}, servers=[desk.server, twin])) == {"identity"}


@pytest.mark.parametrize("value", ["0", "1.5G", "lots", "18446744073709551616"])
def test_a_value_that_the_server_does_not_take_is_refused(desk: Desk, value: str) -> None:
    assert bad(checks(desk, {"innodb_redo_log_capacity": value})) == {"values"}


def test_a_value_that_is_there_already_is_nothing_to_change(desk: Desk) -> None:
    assert bad(checks(desk, {"innodb_io_capacity": "200"})) == {"values"}
    found = checks(desk, {"innodb_io_capacity": "200", "max_connections": "300"})
    assert bad(found) == set()
    assert "values" in warned(found)


def test_a_value_that_the_server_rounds_is_told(desk: Desk) -> None:
    assert "rounded" in warned(checks(desk, {"innodb_redo_log_capacity": "100000001"}))


def test_values_that_do_not_fit_together_are_refused(desk: Desk) -> None:
    found = checks(desk, {"innodb_io_capacity": "9000", "innodb_io_capacity_max": "8000"})
    assert bad(found) == {"values"}
    assert "companions" in warned(checks(desk, {"tmp_table_size": "64M"}))
    assert "companions" not in warned(checks(desk, {"tmp_table_size": "64M", "max_heap_table_size": "64M"}))


def test_memory_that_the_machine_does_not_have_is_refused(desk: Desk) -> None:
    wanted = {"innodb_buffer_pool_size": "16G"}
    assert "memory" in warned(checks(desk, wanted))
    desk.live.become(desk.server, memory_bytes=8 * GIB)
    assert "memory" in bad(checks(desk, wanted))
    desk.live.become(desk.server, memory_bytes=64 * GIB)
    found = checks(desk, wanted)
    assert "memory" in {one.id for one in found}
    assert "memory" not in bad(found) | warned(found)


def test_a_redo_log_that_the_disk_does_not_hold_is_refused(desk: Desk) -> None:
    wanted = {"innodb_redo_log_capacity": "8G"}
    assert "disk" in warned(checks(desk, wanted))
    desk.live.become(desk.server, free_disk_bytes=9 * GIB)
    assert "disk" in bad(checks(desk, wanted))
    desk.live.become(desk.server, free_disk_bytes=100 * GIB)
    assert "disk" not in bad(checks(desk, wanted))


def test_a_smaller_redo_log_wants_no_disk(desk: Desk) -> None:
    facts = desk.live.facts[desk.server.pk]
    assert isinstance(facts, LiveFacts)
    large = {**facts.variables, "innodb_redo_log_capacity": str(8 * GIB)}
    desk.live.facts[desk.server.pk] = replace(
        facts, variables=large, status={**facts.status, "Innodb_redo_log_capacity_resized": str(8 * GIB)}
    )
    assert "disk" not in {one.id for one in checks(desk, {"innodb_redo_log_capacity": "1G"})}


def test_what_a_source_and_its_replicas_agree_on_is_told_to_the_reviewers(desk: Desk) -> None:
    assert "replicas" not in warned(checks(desk, {"max_allowed_packet": "32M"}))
    desk.live.become(desk.server, role="source")
    assert "replicas" in warned(checks(desk, {"max_allowed_packet": "32M"}))


def test_the_same_wish_is_checked_on_each_server_by_itself(desk: Desk) -> None:
    other = desk.add_server("beta", MARIADB)
    desk.live.become(other, hostname="beta")
    request = request_for(desk, {"max_connections": "300"}, servers=[desk.server, other])
    found = checking.checks(request, desk.live.facts)  # type: ignore[arg-type]
    assert {one.server for one in found if one.id == "values"} == {desk.server.pk, other.pk}
