"""Whether a change helped, on histories of which it is known what was done to them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest

from advisor.engine.units import MIB
from advisor.engine.verdict import Verdict, Why, judge
from advisor.engine.verdict_metrics import AIMS, METRICS, aims_of
from advisor.engine.verdict_windows import ENOUGH_POLLS, Settle, settled_at, windows
from advisor.mysql import series
from tests.engine.verdict_histories import CHANGED_AT, Server, history, judged, replace, swinging

SMALL = Server(limit=48 * MIB, pages=500)
LARGE = Server(limit=400 * MIB, pages=500)
#: As a server is left that has nothing to spare: every tenth minute it stands at its limit.
PRESSED = replace(SMALL, bursts=0.03, noise=0.15)


def step_to(factor: float) -> Callable[[float], float]:
    """A load that is another one from the change on."""
    return lambda since: 40.0 if since < 0 else 40.0 * factor


@pytest.mark.parametrize("seeds", [range(12), pytest.param(range(12, 37), marks=pytest.mark.ci)], ids=["few", "many"])
def test_nothing_changed_is_no_difference_and_hardly_ever_anything_else(seeds: range) -> None:
    said: Counter[Verdict] = Counter()
    for seed in seeds:
        for server in (SMALL, LARGE, PRESSED, replace(SMALL, demand=swinging)):
            course = history(server, seed=seed)
            said.update(judged(course, until=until).verdict for until in (420, 1800))
    assert said.total() == 8 * len(seeds)
    assert said[Verdict.NO_DIFFERENCE] >= 0.95 * said.total()
    # What must not happen to a change that did nothing: to be told that it did something.
    assert said[Verdict.IMPROVED] + said[Verdict.WORSE] <= 0.02 * said.total()


def test_twice_the_load_is_told_as_such_and_never_taken_for_an_effect() -> None:
    for seed in range(15):
        for server in (SMALL, LARGE):
            found = judged(history(server, after=replace(server, demand=step_to(2.0)), seed=seed))
            assert (found.verdict, found.why) == (Verdict.CANNOT_TELL, Why.LOAD)
            work = found.load[0]
            assert work.low is not None
            assert work.high is not None
            assert work.change is not None
            assert 1.7 < work.change < 2.3
            assert 1.25 < work.low < work.change < work.high


def test_a_load_that_went_away_is_no_improvement() -> None:
    said = {
        judged(history(PRESSED, after=replace(PRESSED, demand=step_to(0.5)), seed=seed)).verdict for seed in range(15)
    }
    assert said == {Verdict.CANNOT_TELL}


def test_a_larger_redo_log_is_an_improvement_and_a_smaller_one_is_worse() -> None:
    for until in (600, 1800):
        raised = [judged(history(SMALL, after=LARGE, seed=seed), until=until) for seed in range(15)]
        lowered = [judged(history(LARGE, after=SMALL, seed=seed), until=until) for seed in range(15)]
        assert sum(one.verdict is Verdict.IMPROVED for one in raised) >= 14
        assert sum(one.verdict is Verdict.WORSE for one in lowered) >= 14
        assert not {one.verdict for one in raised} & {Verdict.WORSE, Verdict.NO_DIFFERENCE}
        assert not {one.verdict for one in lowered} & {Verdict.IMPROVED, Verdict.NO_DIFFERENCE}
        for one in (raised[0], lowered[0]):
            assert {row.figure.metric.id for row in one.deciding} & {"pressure_p95", "pages_per_redo"}


def test_less_pressure_under_more_load_is_an_improvement_although_the_load_changed() -> None:
    busier = replace(LARGE, demand=step_to(1.6))
    assert judged(history(PRESSED, after=busier, seed=3)).verdict is Verdict.IMPROVED


def test_a_load_that_swings_does_not_hide_a_larger_log() -> None:
    before, after = replace(SMALL, demand=swinging), replace(LARGE, demand=swinging)
    said = Counter(judged(history(before, after=after, seed=seed), until=700).verdict for seed in range(20))
    assert said[Verdict.IMPROVED] >= 18
    assert said[Verdict.WORSE] + said[Verdict.NO_DIFFERENCE] == 0


def test_a_restart_inside_a_window_leaves_nothing_to_say() -> None:
    found = judged(history(SMALL, after=LARGE, seed=1, restart_at=1200))
    assert (found.verdict, found.why) == (Verdict.CANNOT_TELL, Why.RESTART)


def test_a_restart_that_the_change_took_lies_between_the_windows() -> None:
    course = history(SMALL, after=LARGE, seed=1, restart_at=5)
    assert judged(course, restart=False).why == Why.RESTART
    assert judged(course, restart=True).verdict is Verdict.IMPROVED


def test_a_second_resize_inside_a_window_leaves_nothing_to_say() -> None:
    course = history(SMALL, after=LARGE, seed=1)
    later = history(LARGE, after=SMALL, seed=2)
    cut = CHANGED_AT + 1400
    mixed = [one for one in course if one.ended_at <= cut] + [one for one in later if one.started_at >= cut]
    seen = windows(mixed, began_at=CHANGED_AT, settled_at=CHANGED_AT + 300, until=CHANGED_AT + 1800, longest=900)
    assert judge(seen).why == Why.RESIZE


def test_with_fewer_polls_than_a_dozen_nothing_is_said() -> None:
    found = judged(history(SMALL, after=LARGE, seed=1), until=200)
    assert (found.verdict, found.why) == (Verdict.CANNOT_TELL, Why.TOO_LITTLE)
    assert found.windows is None or found.windows.after.count < ENOUGH_POLLS


def test_a_hole_in_the_history_is_said() -> None:
    course = history(SMALL, after=LARGE, seed=1)
    watched = [one for one in course if not CHANGED_AT + 1000 < one.ended_at <= CHANGED_AT + 1600]
    found = judged(watched)
    assert (found.verdict, found.why) == (Verdict.CANNOT_TELL, Why.GAPS)


def test_a_server_without_work_is_not_judged() -> None:
    idle = replace(LARGE, demand=lambda since: 0.01)
    assert judged(history(idle, seed=1)).why == Why.IDLE


def test_where_nothing_was_meant_to_get_better_only_harm_counts() -> None:
    course = history(LARGE, after=SMALL, seed=1)
    assert judged(course, variable="max_connections").verdict in (Verdict.WORSE, Verdict.NO_DIFFERENCE)
    assert not [row for row in judged(course, variable="max_connections").rows if row.aim]


def test_it_is_settled_when_the_age_has_swung_around_a_level_and_not_while_it_climbs() -> None:
    settle = Settle(least=120, most=900)
    calm = history(SMALL, seed=1)
    found = settled_at(calm, CHANGED_AT, settle)
    assert found is not None
    assert 120 <= found - CHANGED_AT <= 400
    # A log that takes long to fill again: the age has only climbed by then.
    filled = replace(LARGE, limit=8000 * MIB, pages=50)
    slower = replace(filled, limit=12_000 * MIB, demand=lambda since: 0.4 * filled.demand(since))
    slow = history(filled, after=slower, seed=1)
    late = settled_at(slow, CHANGED_AT, settle)
    assert late is not None
    assert late - CHANGED_AT == 900
    assert settled_at([one for one in slow if one.ended_at < CHANGED_AT + 600], CHANGED_AT, settle) is None


def test_a_larger_log_is_judged_once_it_holds_what_filled_the_smaller_one() -> None:
    settle = Settle(least=120, most=900)
    raised = history(SMALL, after=replace(LARGE, limit=8000 * MIB, pages=50), seed=1)
    found = settled_at(raised, CHANGED_AT, settle)
    assert found is not None
    assert 120 <= found - CHANGED_AT <= 300
    usual = float(np.median([one.current.values[series.CHECKPOINT_AGE] for one in raised if one.ended_at < CHANGED_AT]))
    held = next(one.current.values[series.CHECKPOINT_AGE] for one in raised if one.ended_at == found)
    assert held >= 0.9 * usual
    assert judged(raised, until=found - CHANGED_AT + 200).verdict == Verdict.IMPROVED


def test_the_same_history_is_always_judged_alike() -> None:
    course = history(SMALL, after=LARGE, seed=4)
    assert judged(course) == judged(list(course))


def test_every_aim_is_a_metric_that_is_read_and_names_what_is_better() -> None:
    known = {metric.id for metric in METRICS}
    for variable, aims in AIMS.items():
        assert {metric.id for metric in aims} <= known, variable
        assert all(metric.better for metric in aims), variable
    assert [metric.id for metric in aims_of(["INNODB_LOG_FILE_SIZE", "innodb_io_capacity"])]
    assert aims_of(["innodb_log_file_size"], ["redo.redo-log-oversized"]) == ()
    assert aims_of(["max_connections"]) == ()
