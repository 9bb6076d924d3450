"""Every recorded server gets exactly the advice that stands beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from advisor.engine.evaluation import judge
from advisor.engine.outcome import Finding, NotEvaluated
from advisor.rules import all_rules
from tests.recorded.judging import EXPECTED, expected, observation, recordings

each_recording = pytest.mark.parametrize("path", recordings(), ids=lambda path: path.name)


@each_recording
def test_a_recording_gets_the_advice_that_was_reviewed(path: Path) -> None:
    assert expected(path) == (path / EXPECTED).read_text(), (
        "the advice changed: python -m tests.recorded rewrite, and read the difference"
    )


@each_recording
def test_a_recording_holds_no_name_of_a_machine_and_no_path_of_one(path: Path) -> None:
    text = "".join(one.read_text() for one in path.iterdir())
    for trace in ("/root", "/work", "/home/", "/tmp/"):
        assert trace not in text


def test_small_redo_logs_are_found_on_every_version_and_idle_servers_are_left_alone() -> None:
    said = {
        path.name: judge(observation(path), all_rules(), strict=True).outcome("redo.redo-log-undersized")
        for path in recordings()
    }
    small = [name for name in said if name.endswith("small-redo")]
    assert len(small) >= 9
    assert [name for name in small if not isinstance(said[name], Finding)] == []
    idle = [name for name in said if name.endswith(("idle", "no-grants"))]
    assert [name for name in idle if not isinstance(said[name], NotEvaluated)] == []
