"""The advice document against its schema, and the text for people."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from advisor.engine.advice import Effort, Tool, advice_document, prepare, text, worst
from advisor.engine.evaluation import judge
from advisor.engine.observation import Observation
from advisor.engine.outcome import Severity
from advisor.engine.scene import scene, stated
from advisor.engine.units import GIB, MIB
from advisor.rules import all_rules

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "advice.schema.json").read_text())

STALLING = scene(
    "mariadb 10.11.18",
    {"innodb_log_file_size": 8 * MIB, "innodb_log_buffer_size": 2 * MIB, "innodb_flush_log_at_trx_commit": 0},
    redo_per_second=4 * MIB,
    pressure=[1.0, 0.9],
    deliberate=True,
    host=stated(memory_bytes=8 * GIB),
)


def advice(seen: Observation) -> dict[str, Any]:
    return advice_document(judge(seen, all_rules(), strict=True), seen, effort=Effort(1, 20, 2), tool=Tool("0.1", "1"))


@pytest.mark.parametrize(
    "seen",
    [
        STALLING,
        scene("mysql 8.0.33", seconds=0),
        scene("mysql 5.7.22", age_readable=False),
        scene("mysql 9.7.4", {"innodb_redo_log_capacity": 8 * MIB}, redo_per_second=4 * MIB, pressure=[1.0]),
        scene("mysql 26.7.0", {"innodb_redo_log_capacity": 8 * MIB}, redo_per_second=4 * MIB, pressure=[1.0]),
        scene("mysql 8.0.12", {"innodb_log_file_size": 4 * MIB}, redo_per_second=4 * MIB, pressure=[1.0]),
        scene("mariadb 11.8.6", {"innodb_log_file_size": 8 * MIB}, redo_per_second=4 * MIB, pressure=[1.0]),
    ],
    ids=lambda seen: str(seen.server),
)
def test_a_document_follows_the_schema_with_an_outcome_for_every_rule(seen: Observation) -> None:
    document = advice(seen)
    jsonschema.validate(document, SCHEMA)
    assert json.loads(json.dumps(document)) == document
    assert [one["rule"] for one in document["outcomes"]] == [rule.id for rule in all_rules()]


def test_a_recommendation_carries_current_and_proposed_as_the_server_prints_them() -> None:
    [one] = [one for one in advice(STALLING)["recommendations"] if one["rule"] == "redo.redo-log-undersized"]
    assert one["changes"] == [
        {
            "kind": "variable",
            "name": "innodb_log_file_size",
            "current": str(8 * MIB),
            "proposed": str(3328 * MIB),
            "needs_restart": False,
            "effect": "at_once",
        }
    ]
    assert one["sql"] == [f"SET GLOBAL `innodb_log_file_size` = {3328 * MIB}"]
    assert one["undo"] == [f"SET GLOBAL `innodb_log_file_size` = {8 * MIB}"]
    assert one["key"] == "redo.redo-log-undersized"
    assert {price["kind"] for price in one["price"]} == {"disk", "recovery_time"}
    assert one["confidence"] == "low"


def test_an_unknown_host_is_said_to_be_unknown() -> None:
    host = advice(STALLING)["host"]
    assert host["memory_bytes"] == {"value": 8 * GIB, "origin": "stated"}
    assert host["storage"] == {"value": None, "origin": "unknown"}


def test_the_text_says_what_to_do_what_passed_and_what_is_missing_in_lines_for_a_ticket() -> None:
    judgement = judge(STALLING, all_rules(), strict=True)
    words = text(prepare(STALLING, judgement, effort=Effort(1, 20, 2)))
    assert words.startswith("MariaDB 10.11.18, up ")
    assert "1. WARNING" in words
    assert f"SET GLOBAL `innodb_log_file_size` = {3328 * MIB};" in words
    assert "innodb_log_file_size = 3328M" in words
    assert "Passed (" in words
    assert "Not evaluated (" in words
    long = [line for line in words.splitlines() if len(line) > 100 and "SQL" not in line and "innodb_" not in line]
    assert long == []


def test_the_text_of_a_server_without_findings_says_so() -> None:
    seen = scene("mysql 9.7.4", {"innodb_redo_log_capacity": GIB}, redo_per_second=MIB, pressure=[0.2])
    judgement = judge(seen, all_rules(), strict=True)
    assert worst(judgement) is None
    assert "No recommendations." in text(prepare(seen, judgement))


def test_the_worst_severity_decides_what_the_exit_code_is_made_of() -> None:
    assert worst(judge(STALLING, all_rules(), strict=True)) is Severity.WARNING
