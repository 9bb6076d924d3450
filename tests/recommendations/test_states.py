"""The states as a table: every state with every step, so that nothing happens that nobody thought of."""

from __future__ import annotations

import pytest

from advisor.recommendations.models import State
from advisor.recommendations.states import LIVING, TRANSITIONS, Step, WrongState, after

EXPECTED = {
    State.OPEN: {
        Step.ACKNOWLEDGE: State.ACKNOWLEDGED,
        Step.DISMISS: State.DISMISSED,
        Step.TAKE_INTO_CHANGE: State.IN_CHANGE,
        Step.RESOLVE: State.RESOLVED,
    },
    State.ACKNOWLEDGED: {
        Step.DISMISS: State.DISMISSED,
        Step.REOPEN: State.OPEN,
        Step.TAKE_INTO_CHANGE: State.IN_CHANGE,
        Step.RESOLVE: State.RESOLVED,
    },
    State.IN_CHANGE: {
        Step.RELEASE_FROM_CHANGE: State.OPEN,
        Step.APPLY: State.APPLIED,
        Step.RESOLVE: State.RESOLVED,
    },
    State.APPLIED: {Step.ROLL_BACK: State.OPEN, Step.RESOLVE: State.RESOLVED},
    State.DISMISSED: {Step.REOPEN: State.OPEN, Step.RESOLVE: State.RESOLVED},
    State.RESOLVED: {Step.RETURN: State.OPEN},
}


@pytest.mark.parametrize("state", list(State))
@pytest.mark.parametrize("step", list(Step))
def test_a_step_leads_where_the_table_says_or_is_refused_in_words(state: State, step: Step) -> None:
    expected = EXPECTED[state].get(step)
    if expected is None:
        with pytest.raises(WrongState, match="load it again"):
            after(state, step)
    else:
        assert after(state, step) is expected


def test_every_state_can_be_left_and_reached_from_open() -> None:
    reached, frontier = {State.OPEN}, {State.OPEN}
    while frontier:
        frontier = {target for (state, _), target in TRANSITIONS.items() if state in frontier} - reached
        reached |= frontier
    assert reached == set(State)
    assert {state for state, _ in TRANSITIONS} == set(State)


def test_whatever_lives_can_be_resolved_by_judging() -> None:
    assert {state for state, step in TRANSITIONS if step is Step.RESOLVE} == LIVING
