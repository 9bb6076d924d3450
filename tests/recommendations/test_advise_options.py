"""What ``advise`` takes beside a server: topics, rules, explanations, other formats, and what changed since."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from advisor.rules import all_rules
from tests.recorded.judging import FOLDER

CARELESS = str(FOLDER / "mariadb-10.11-careless")
IDLE = str(FOLDER / "mariadb-11.8-idle")
COMMIT = "durability.commit-not-durable"


def _advise(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    capsys.readouterr()
    call_command("advise", *arguments)
    return capsys.readouterr().out


def _refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        call_command("advise", *arguments)
    assert ended.value.code == 2
    captured = capsys.readouterr()
    return captured.err + captured.out


def test_a_topic_judges_by_its_rules_only_and_tells_no_score(capsys: pytest.CaptureFixture[str]) -> None:
    told = json.loads(_advise(capsys, CARELESS, "--topic", "durability", "--format", "json"))
    assert {one["rule"].split(".")[0] for one in told["outcomes"]} == {"durability"}
    assert told["score"] is None
    whole = json.loads(_advise(capsys, CARELESS, "--format", "json"))
    assert whole["score"]["value"] < 100


def test_a_rule_can_be_asked_alone(capsys: pytest.CaptureFixture[str]) -> None:
    told = json.loads(_advise(capsys, CARELESS, "--rule", COMMIT, "--format", "json"))
    assert [one["rule"] for one in told["outcomes"]] == [COMMIT]


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["--topic", "redoo"], "Topics are"),
        (["--rule", "durability.commit-not-durabel"], COMMIT),
        (["--explain", "nonsense"], "manage.py rules"),
    ],
)
def test_a_slip_in_a_name_is_told_with_what_there_is(
    capsys: pytest.CaptureFixture[str], arguments: list[str], hint: str
) -> None:
    assert hint in _refused(capsys, CARELESS, *arguments)


@pytest.mark.parametrize("recording", [CARELESS, IDLE])
def test_every_rule_explains_itself_whatever_it_said(capsys: pytest.CaptureFixture[str], recording: str) -> None:
    explain = [argument for rule in all_rules() for argument in ("--explain", rule.id)]
    told = json.loads(_advise(capsys, recording, "--format", "json", *explain))
    outcomes = {one["rule"]: one["outcome"] for one in told["outcomes"]}
    for one in told["explained"]:
        assert one["outcome"] == outcomes[one["rule"]]
        assert one["said"] or one["outcome"] == "passed"
        assert all(fact["values"] or fact["missing"] or fact["kind"] for fact in one["facts"])


def test_an_explanation_names_figures_and_thresholds(capsys: pytest.CaptureFixture[str]) -> None:
    told = _advise(capsys, CARELESS, "--explain", "redo.redo-log-undersized")
    explained = told.split("\nredo.redo-log-undersized: ")[1]
    assert "outcome      passed" in explained
    assert "capacity_bytes = 100,663,296" in explained
    assert "at_limit_ratio = 1 %" in explained


def test_what_changed_since_is_told_with_its_settings(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    kept = tmp_path / "before.json"
    _advise(capsys, CARELESS, "--save", str(kept))
    assert "Nothing changed since" in _advise(capsys, CARELESS, "--diff", str(kept))
    before = json.loads(kept.read_text())
    before["variables"]["sync_binlog"] = "1"
    gone = [one for one in before["advice"]["recommendations"] if one["rule"] != COMMIT]
    before["advice"]["recommendations"] = [*gone, {**gone[0], "key": "redo.gone", "title": "It was so"}]
    kept.write_text(json.dumps(before))
    told = _advise(capsys, CARELESS, "--diff", str(kept))
    assert f"New       {COMMIT}: " in told
    assert "Gone      redo.gone: It was so" in told
    assert "sync_binlog: 1 -> 0" in told
    document = json.loads(_advise(capsys, CARELESS, "--diff", str(kept), "--format", "json"))
    assert list(document["difference"]["opened"]) == [COMMIT]


def test_another_server_is_said_to_be_another(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    kept = tmp_path / "before.json"
    _advise(capsys, CARELESS, "--save", str(kept))
    assert "another server" in _advise(capsys, IDLE, "--diff", str(kept))


@pytest.mark.parametrize("content", ["", "[]", '{"format": "something"}', '{"format": "tidemark-advice", "number": 9}'])
def test_a_file_that_is_no_saved_advice_is_refused_before_anything_is_observed(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, content: str
) -> None:
    kept = tmp_path / "before.json"
    kept.write_text(content)
    assert "advise --save" in _refused(capsys, "mysql://nobody@127.0.0.1:1", "--diff", str(kept))


def test_where_the_advice_cannot_be_saved_it_is_printed_all_the_same(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    told = _refused(capsys, CARELESS, "--save", str(tmp_path / "no-such-folder" / "file"))
    assert "could not be saved" in told
    assert COMMIT in told


def test_sarif_has_a_result_for_each_recommendation(capsys: pytest.CaptureFixture[str]) -> None:
    advice = json.loads(_advise(capsys, CARELESS, "--format", "json"))
    told: dict[str, Any] = json.loads(_advise(capsys, CARELESS, "--format", "sarif"))
    (run,) = told["runs"]
    assert told["version"] == "2.1.0"
    rules = [one["id"] for one in run["tool"]["driver"]["rules"]]
    assert rules == [rule.id for rule in all_rules()]
    levels = {"critical": "error", "warning": "warning", "notice": "note"}
    assert [(one["ruleId"], one["level"]) for one in run["results"]] == [
        (one["rule"], levels[one["severity"]]) for one in advice["recommendations"]
    ]
    assert all(rules[one["ruleIndex"]] == one["ruleId"] for one in run["results"])
    assert len({one["partialFingerprints"]["tidemarkKey/v1"] for one in run["results"]}) == len(run["results"])


def test_markdown_holds_every_statement_whole(capsys: pytest.CaptureFixture[str]) -> None:
    advice = json.loads(_advise(capsys, CARELESS, "--format", "json"))
    told = _advise(capsys, CARELESS, "--format", "markdown").splitlines()
    for one in advice["recommendations"]:
        for statement in [*one["sql"], *one["undo"]]:
            assert f"{statement};" in told
    assert sum(line.startswith("## ") and line[3].isdigit() for line in told) == len(advice["recommendations"])
