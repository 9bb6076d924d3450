"""docs/peers.md against the rules and the tests: it names what exists, leaves nothing out, and adds up."""

from __future__ import annotations

import ast
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from advisor.rules import all_rules

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "peers.md"
TESTS = ROOT / "tests" / "rules" / "peers"

DECISIONS = ("taken", "folded", "wrong", "outside", "not yet")
#: How many rules each advisor has, as counted when its source was read.
RULES = {
    "MySQLTuner 2.9.2": 178,
    "pt-variable-advisor 3.5.7": 66,
    "PMM 3: advisor checks": 49,
    "PMM 3: alert templates": 7,
    "phpMyAdmin: advisory rules": 48,
    "phpMyAdmin: query cache": 7,
    "tuning-primer.sh": 17,
    "Releem: health checks, schema checks and the variables it sets": 15 + 6 + 10,
    "MySQL Shell: upgrade checks": 43,
    "mysqltuner_mcp: kinds of message": 7,
}
REPORTS = "What users of these advisors report, and the tests"
FAULTS = "Faults that were verified, and the tests that hold us to the opposite"
RULE_ID = re.compile(r"`([a-z]+\.[a-z]+(?:-[a-z]+)+)`")
TOPICS = {rule.topic for rule in all_rules()}


@cache
def sections() -> dict[str, list[list[str]]]:
    """The rows of the tables, by heading; the head of each table is left out."""
    found: dict[str, list[list[str]]] = {}
    for section in re.split(r"^## ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        title, _, text = section.partition("\n")
        lines = [line for line in text.splitlines() if line.startswith("|")]
        found[title] = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]
    return found


def decision(row: list[str]) -> str:
    (found,) = [cell for cell in row if cell in DECISIONS]
    return found


def test_every_rule_that_is_named_exists() -> None:
    known = {rule.id for rule in all_rules()}
    named = {one for one in RULE_ID.findall(PAGE.read_text(encoding="utf-8")) if one.split(".")[0] in TOPICS}
    assert len(named) > 150
    assert named <= known, sorted(named - known)
    assert len(known - named) > 100, "the page says that more than a hundred rules stand on no line"


@pytest.mark.parametrize("advisor", RULES)
def test_each_rule_of_an_advisor_has_one_line_with_one_decision(advisor: str) -> None:
    rows = sections()[advisor]
    assert len(rows) == RULES[advisor]
    assert len({tuple(row) for row in rows}) == len(rows)
    for row in rows:
        assert len(row) == len(rows[0]), row
        ours = row[-1]
        if decision(row) == "taken":
            assert RULE_ID.search(ours), row
        elif decision(row) == "folded":
            assert RULE_ID.search(ours) or ours.startswith("every rule:"), row
        else:
            assert len(ours) > 5, row


def test_each_of_mysqltuners_rules_has_its_number() -> None:
    assert [row[0] for row in sections()["MySQLTuner 2.9.2"]] == [str(number) for number in range(1, 179)]


def test_the_numbers_on_top_are_those_of_the_tables() -> None:
    rows = {re.sub(r"\[(.*)\]\(.*\)", r"\1", row[0]): row[1:] for row in sections()["In numbers"]}
    assert list(rows) == [*RULES, "all"]
    total: Counter[str] = Counter()
    for advisor in RULES:
        counted = Counter(decision(row) for row in sections()[advisor])
        assert rows[advisor] == [*(str(counted[one]) for one in DECISIONS), str(RULES[advisor])]
        total += counted
    assert rows["all"] == [*(str(total[one]) for one in DECISIONS), str(sum(RULES.values()))]


def test_links_of_the_summary_lead_to_the_tables() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for title, anchor in re.findall(r"^\| \[([^\]]*)\]\(#([^)]*)\)", text, flags=re.MULTILINE):
        assert re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") == anchor
        assert f"\n## {title}\n" in text


def functions_of(module: str) -> set[str]:
    tree = ast.parse((TESTS / f"{module}.py").read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_every_verified_fault_and_every_report_has_a_test_that_exists() -> None:
    assert [row[0] for row in sections()[FAULTS]] == [str(number) for number in range(1, 28)]
    for row in [*sections()[FAULTS], *sections()[REPORTS]]:
        named = re.findall(r"`(test_\w+)`: `(test_\w+)`", row[-1])
        assert named, row
        for module, function in named:
            assert function in functions_of(module), (row[0], module, function)


def test_prose_stays_within_the_width_of_the_other_pages() -> None:
    prose = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if not line.startswith(("|", "#"))]
    assert [line for line in prose if len(line) > 135] == []
