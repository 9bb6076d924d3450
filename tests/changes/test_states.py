"""Every state against every step: what the table does not name cannot happen, and of two at once one succeeds."""

from __future__ import annotations

import pytest

from advisor.changes import states
from advisor.changes.models import ChangeRequest, State
from advisor.changes.states import TRANSITIONS, CameLate, Step, WrongState
from advisor.teams.audit import AuditEntry

from .building import NOW, Desk, request_for

#: What may be done from where, as people were promised it: written out, so that a slip in the table shows.
ALLOWED = {
    State.DRAFT: "edit withdraw submit comment",
    State.IN_REVIEW: "edit withdraw comment request_changes endorse approve unapprove begin_emergency",
    State.CHANGES_REQUESTED: "edit withdraw submit comment",
    State.APPROVED: "edit withdraw comment request_changes endorse unapprove schedule begin recognise",
    State.STALE: "edit withdraw submit comment",
    State.SCHEDULED: "edit withdraw comment request_changes endorse unapprove schedule unschedule begin recognise",
    State.APPLYING: "comment endorse awaits_restart applied begin_roll_back rolled_back fail need_attention",
    State.AWAITING_RESTART: "comment endorse applied begin_roll_back rolled_back fail need_attention",
    State.VERIFYING: "comment endorse keep begin_roll_back need_attention",
    State.KEPT: "comment endorse begin_roll_back",
    State.ROLLED_BACK: "comment endorse",
    State.FAILED: "comment",
    State.NEEDS_ATTENTION: "comment endorse applied begin_roll_back rolled_back fail",
    State.WITHDRAWN: "comment",
}


@pytest.mark.parametrize("state", list(State))
def test_the_table_allows_exactly_what_was_promised(state: State) -> None:
    assert {step.value for one, step in TRANSITIONS if one is state} == set(ALLOWED[state].split())


def test_applying_begins_from_an_approval_or_as_an_emergency_only() -> None:
    into = {(state, step) for (state, step), target in TRANSITIONS.items() if target is State.APPLYING}
    begins = {one for one in into if one[1] is not Step.BEGIN_ROLL_BACK and one[0] is not State.APPLYING}
    assert begins == {
        (State.APPROVED, Step.BEGIN),
        (State.SCHEDULED, Step.BEGIN),
        (State.IN_REVIEW, Step.BEGIN_EMERGENCY),
    }


def test_approved_is_reached_from_a_review_only() -> None:
    into = {(state, step) for (state, step), target in TRANSITIONS.items() if target is State.APPROVED}
    assert into - {(State.APPROVED, Step.ENDORSE), (State.APPROVED, Step.COMMENT)} == {
        (State.IN_REVIEW, Step.APPROVE),
        (State.SCHEDULED, Step.UNSCHEDULE),
    }


def test_every_state_meets_every_step(desk: Desk) -> None:
    request = request_for(desk, state=State.APPROVED)
    refused = made = 0
    for state in State:
        for step in Step:
            ChangeRequest.objects.filter(pk=request.pk).update(state=state)
            now = ChangeRequest.objects.select_related("plan").get(pk=request.pk)
            entries = AuditEntry.objects.count()
            if (state, step) in TRANSITIONS:
                moved = states.move(request=now, step=step, actor=desk.operator, now=NOW)
                assert (moved.state, moved.version) == (TRANSITIONS[state, step], now.version + 1)
                assert AuditEntry.objects.latest("sequence").action == f"change.{step.value}"
                assert AuditEntry.objects.count() >= entries + 1
                made += 1
            else:
                with pytest.raises(WrongState):
                    states.move(request=now, step=step, actor=desk.operator, now=NOW)
                assert ChangeRequest.objects.get(pk=request.pk).version == now.version
                assert AuditEntry.objects.count() == entries
                refused += 1
    assert (made, refused) == (len(TRANSITIONS), len(State) * len(Step) - len(TRANSITIONS))


def test_of_two_steps_from_one_version_the_second_comes_late(desk: Desk) -> None:
    request = request_for(desk, state=State.APPROVED)
    states.move(request=request, step=Step.BEGIN, actor=desk.operator, now=NOW)
    with pytest.raises(CameLate):
        states.move(request=request, step=Step.BEGIN, actor=desk.operator, now=NOW)


def test_nothing_moves_where_the_audit_cannot_be_written(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    request = request_for(desk, state=State.APPROVED)

    def fail(**_: object) -> None:
        raise RuntimeError("the disk is full")

    monkeypatch.setattr("advisor.teams.audit.record", fail)
    with pytest.raises(RuntimeError):
        states.move(request=request, step=Step.BEGIN, actor=desk.operator, now=NOW)
    assert ChangeRequest.objects.get(pk=request.pk).state == State.APPROVED
