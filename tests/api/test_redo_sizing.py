"""getRedoSizing: the table of the redo page for programs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.api.calling import Caller
from tests.web import redo_history
from tests.whatif.emulated import MIB


@pytest.fixture
def caller(owner: Any, token_of: Callable[[Any], str]) -> Caller:
    return Caller(token_of(owner))


def test_sizes_come_with_their_bands_the_back_test_and_the_smallest(team: Any, caller: Caller) -> None:
    server = redo_history.build(team, hours=2.2, capacity=128 * MIB, peak=4 * MIB, io_capacity=100)
    told = caller("getRedoSizing", id=server.pk).json()
    assert told["cannot_tell"] is None
    assert told["objective"] == "async-0.999"
    present = next(one for one in told["sizes"] if one["measured"])
    assert present["capacity_bytes"] == 128 * MIB
    assert present["age_p95_ratio"]["low"] == present["age_p95_ratio"]["high"] > 0.1
    assert told["smallest_bytes"] in [one["capacity_bytes"] for one in told["sizes"]]
    assert 0 < told["back_test"]["p95_recorded_ratio"] < 1
    assert told["read_seconds"] == pytest.approx(2.2 * 3600, rel=0.02)
    sync = caller("getRedoSizing", id=server.pk, point="sync", share=0.99).json()
    assert sync["objective"] == "sync-0.99"


def test_too_little_load_is_said_by_a_word(team: Any, caller: Caller) -> None:
    server = redo_history.build(team, hours=0.4)
    told = caller("getRedoSizing", id=server.pk).json()
    assert told["cannot_tell"] == "little_load"
    assert told["sizes"] == []


def test_a_range_that_makes_no_sense_is_a_problem(watched: Any, caller: Caller) -> None:
    assert caller("getRedoSizing", id=watched.pk, **{"from": "now-60d"}).status_code == 422
    assert caller("getRedoSizing", id=watched.pk, share=2).status_code == 422
