"""An hour is an hour: whatever the jitter of polls, and however far apart they are."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from advisor.engine.evidence import LongWindow, is_long
from advisor.engine.observation import Observation
from advisor.engine.outcome import Missing
from advisor.engine.scene import scene
from advisor.engine.units import HOUR, KIB, MIB
from advisor.mysql.rates import Interval
from advisor.mysql.snapshot import Poll
from advisor.recommendations.judging import FURTHER_POLLS, WINDOW_SECONDS


def window(every: int, chance: random.Random, *, missed: int = 0) -> tuple[Interval, ...]:
    """What judging reads of a server polled every so often, each poll some milliseconds late."""
    end = 100 * HOUR
    start = end - WINDOW_SECONDS - FURTHER_POLLS * every
    at = [
        second + chance.uniform(0.0, 0.05) for second in range(100, end + 1, every) if start <= second + 0.001 < end + 1
    ]
    for _ in range(missed):
        at.pop(len(at) // 2)
    polls = [Poll(one, one, 1000 + int(one), {}) for one in at]
    return tuple(Interval(one, other, other.at - one.at) for one, other in pairwise(polls))


@pytest.mark.parametrize("every", [5, 10, 30, 60, 120, 300])
def test_the_window_that_is_read_is_always_an_hour(every: int) -> None:
    chance = random.Random(3)
    assert all(is_long(window(every, chance)) for _ in range(200))


@pytest.mark.parametrize("every", [10, 60])
def test_one_missed_poll_does_not_end_the_hour(every: int) -> None:
    assert is_long(window(every, random.Random(3), missed=1))


def test_a_few_polls_far_apart_are_no_hour() -> None:
    assert not is_long(window(900, random.Random(3)))
    assert not is_long(window(10, random.Random(3))[:200])


def test_what_is_missing_of_the_hour_is_said_with_figures_that_agree() -> None:
    def told(seen: Observation) -> str:
        with pytest.raises(Missing) as missing:
            LongWindow.read(seen)
        return missing.value.remedies[0].text

    idle = scene("mysql 8.0.33", redo_per_second=KIB, seconds=HOUR, every=60)
    assert told(idle) == (
        "Needs an hour in 60 intervals, half of them under write load; so far 1 h in 60, 0 under write load."
    )
    short = scene("mysql 8.0.33", redo_per_second=MIB, seconds=HOUR - 120, every=60)
    assert told(short).endswith("so far 58 min in 58, 58 under write load.")
    slow = scene("mysql 8.0.33", redo_per_second=KIB, seconds=2 * HOUR, every=300)
    assert told(slow).startswith("Needs an hour in 12 intervals")
