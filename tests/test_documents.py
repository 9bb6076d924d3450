"""The documents on security and guarantees: each test that they name exists, and each place in the code.

Files are parsed and not imported, so that a renamed test is found without running any other.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SECURITY, GUARANTEES = "docs/security.md", "docs/guarantees.md"
_NAMED = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")
#: Everything that looks as if it named a test, so that a slip in the form cannot hide one from the check.
_LIKE_A_TEST = re.compile(r"\btest_\w+(?!\w|\.py)")
_PLACE = re.compile(r"`((?:advisor|collector|scripts|tests)/[\w/]+(?:\.py)?)`")


@cache
def functions_in(file: str) -> frozenset[str]:
    """The test functions of a file, in classes or not; none where there is no such file."""
    path = ROOT / file
    if not path.is_file():
        return frozenset()
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    found = [node.name for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, functions)]
    return frozenset(name for name in found if name.startswith("test_"))


def missing(text: str) -> list[str]:
    """The tests that a text names and that do not exist."""
    return [f"{file}::{name}" for file, name in _NAMED.findall(text) if name not in functions_in(file)]


def rows(text: str) -> list[list[str]]:
    """The cells of all tables' rows, without their heads."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    rules = {number for number, line in enumerate(lines) if re.fullmatch(r"\|[-|]+\|", line)}
    bodies = [line for number, line in enumerate(lines) if number not in rules and number + 1 not in rules]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in bodies]


def read(document: str) -> str:
    return (ROOT / document).read_text(encoding="utf-8")


@pytest.mark.parametrize(("document", "at_least"), [(SECURITY, 150), (GUARANTEES, 60)])
def test_every_test_that_is_named_exists(document: str, at_least: int) -> None:
    text = read(document)
    assert missing(text) == []
    named = [name for _, name in _NAMED.findall(text)]
    assert len(named) >= at_least
    assert len(named) == len(_LIKE_A_TEST.findall(text))


def test_a_test_that_was_renamed_or_moved_is_found() -> None:
    file, name = _NAMED.findall(read(SECURITY))[0]
    assert missing(f"`{file}::{name}`") == []
    assert missing(f"`{file}::{name}_now` `tests/nowhere.py::{name}`") == [
        f"{file}::{name}_now",
        f"tests/nowhere.py::{name}",
    ]
    # A helper is no test, whatever it is called like.
    assert "missing" not in functions_in("tests/test_documents.py")


def test_every_threat_says_what_stops_it_what_proves_that_and_what_is_not_proven() -> None:
    found = rows(read(SECURITY))
    assert len(found) >= 50
    for cells in found:
        assert len(cells) == 4, cells[0]
        assert all(cells), cells[0]
        assert _NAMED.search(cells[2]), cells[0]
    assert any(cells[3] != "–" for cells in found)


def test_every_promise_has_its_test() -> None:
    found = rows(read(GUARANTEES))
    assert len(found) >= 40
    for cells in found:
        assert len(cells) == 2, cells[0]
        assert _NAMED.search(cells[1]), cells[0]


@pytest.mark.parametrize("document", [SECURITY, GUARANTEES])
def test_places_and_links_exist(document: str) -> None:
    text = read(document)
    assert [place for place in _PLACE.findall(text) if not (ROOT / place).exists()] == []
    links = re.findall(r"\]\(([\w./-]+)\)", text)
    assert links
    assert [link for link in links if not (ROOT / "docs" / link).exists()] == []


@pytest.mark.parametrize("reader", ["README.md", "docs/audit.md"])
def test_they_are_found_from_where_people_look(reader: str) -> None:
    text, prefix = read(reader), "docs/" if reader == "README.md" else ""
    assert f"]({prefix}security.md)" in text
    assert f"]({prefix}guarantees.md)" in text
