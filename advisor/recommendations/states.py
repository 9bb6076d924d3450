"""The states of a recommendation, as a table: what is not in it cannot happen."""

from __future__ import annotations

from enum import StrEnum

from advisor.recommendations.models import State


class Step(StrEnum):
    """What can happen to a recommendation: by a person, by a change request, or by judging."""

    ACKNOWLEDGE = "acknowledge"
    DISMISS = "dismiss"
    REOPEN = "reopen"
    TAKE_INTO_CHANGE = "take_into_change"
    RELEASE_FROM_CHANGE = "release_from_change"
    APPLY = "apply"
    ROLL_BACK = "roll_back"
    RESOLVE = "resolve"
    RETURN = "return"


TRANSITIONS: dict[tuple[State, Step], State] = {
    (State.OPEN, Step.ACKNOWLEDGE): State.ACKNOWLEDGED,
    (State.OPEN, Step.DISMISS): State.DISMISSED,
    (State.ACKNOWLEDGED, Step.DISMISS): State.DISMISSED,
    (State.ACKNOWLEDGED, Step.REOPEN): State.OPEN,
    (State.DISMISSED, Step.REOPEN): State.OPEN,
    (State.OPEN, Step.TAKE_INTO_CHANGE): State.IN_CHANGE,
    (State.ACKNOWLEDGED, Step.TAKE_INTO_CHANGE): State.IN_CHANGE,
    (State.IN_CHANGE, Step.RELEASE_FROM_CHANGE): State.OPEN,
    (State.IN_CHANGE, Step.APPLY): State.APPLIED,
    (State.APPLIED, Step.ROLL_BACK): State.OPEN,
    (State.OPEN, Step.RESOLVE): State.RESOLVED,
    (State.ACKNOWLEDGED, Step.RESOLVE): State.RESOLVED,
    (State.DISMISSED, Step.RESOLVE): State.RESOLVED,
    (State.IN_CHANGE, Step.RESOLVE): State.RESOLVED,
    (State.APPLIED, Step.RESOLVE): State.RESOLVED,
    (State.RESOLVED, Step.RETURN): State.OPEN,
}

#: A recommendation that is not resolved: at most one of a key lives on a server.
LIVING = frozenset(State) - {State.RESOLVED}
#: Those that a person still has something to do about.
PENDING = frozenset({State.OPEN, State.ACKNOWLEDGED, State.IN_CHANGE})


class WrongState(Exception):
    """The step cannot be made from the state the recommendation is in; the message says so."""

    def __init__(self, state: str, step: Step) -> None:
        wording = {
            Step.ACKNOWLEDGE: "acknowledged",
            Step.DISMISS: "dismissed",
            Step.REOPEN: "opened again",
            Step.TAKE_INTO_CHANGE: "taken into a change request",
            Step.RELEASE_FROM_CHANGE: "released from a change request",
            Step.APPLY: "marked as applied",
            Step.ROLL_BACK: "marked as rolled back",
            Step.RESOLVE: "resolved",
            Step.RETURN: "found again",
        }[step]
        super().__init__(f"The recommendation is {state.replace('_', ' ')} and cannot be {wording}: load it again.")
        self.state = state
        self.step = step


def after(state: str, step: Step) -> State:
    """The state that a step leads to. Raises WrongState where it cannot be made."""
    try:
        return TRANSITIONS[State(state), step]
    except KeyError:
        raise WrongState(state, step) from None
