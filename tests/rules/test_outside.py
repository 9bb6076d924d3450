"""Rules that installed packages add: the documented example works as it stands, and a bad one harms nobody."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from advisor.engine.evaluation import judge
from advisor.engine.outcome import Finding
from advisor.engine.scene import scene
from advisor.rules import all_rules
from advisor.rules.outside import GROUP, Outside, collect

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An importable package without any rule yet."""
    folder = tmp_path / "acme_rules"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield folder
    for name in [name for name in sys.modules if name.split(".")[0] == "acme_rules"]:
        del sys.modules[name]


def _documented() -> str:
    text = (ROOT / "docs" / "own-rules.md").read_text()
    (code,) = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    return str(code)


def _collected() -> Outside:
    return collect([EntryPoint("acme", "acme_rules", GROUP)])


def test_the_documented_example_is_a_rule_like_all_others(package: Path) -> None:
    (package / "idle_for_hours.py").write_text(_documented())
    found = _collected()
    assert found.refused == {}
    (rule,) = found.rules
    assert rule.id == "acme-rules.idle-for-hours"
    assert rule.topic == "acme-rules"
    judgement = judge(scene("mariadb 10.11.18", {"wait_timeout": 28800}), [*all_rules(), rule], strict=True)
    assert isinstance(judgement.outcome(rule.id), Finding)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (("rule = Rule(", "rule = Ruel("), "NameError"),
        (("Why it matters", "Why"), "Why it matters"),
        (("timeouts.wait_timeout <= 3600", "True"), "does not hold"),
        (("rule.passes(", "print("), "in which it passes"),
        (('"wait_timeout", 3600)', '"wait_timeout", 7200)'), "still fires"),
    ],
)
def test_a_rule_that_cannot_be_used_is_left_out_and_named(package: Path, change: tuple[str, str], why: str) -> None:
    (package / "good_one.py").write_text(_documented())
    assert change[0] in _documented()
    (package / "bad_one.py").write_text(_documented().replace(*change))
    found = _collected()
    assert [rule.id for rule in found.rules] == ["acme-rules.good-one"]
    assert list(found.refused) == ["acme_rules.bad_one"]
    assert why in found.refused["acme_rules.bad_one"]


def test_a_package_that_cannot_be_imported_is_named(package: Path) -> None:
    (package / "__init__.py").write_text("raise RuntimeError('not today')")
    found = _collected()
    assert found.rules == ()
    assert "not today" in found.refused["acme_rules"]


def test_a_module_without_a_rule_and_a_private_one(package: Path) -> None:
    (package / "_shared.py").write_text("raise RuntimeError('never imported')")
    (package / "nothing.py").write_text("rule = 3")
    assert _collected().refused == {"acme_rules.nothing": "its module holds no rule"}
