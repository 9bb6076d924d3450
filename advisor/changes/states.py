"""The states of a change request as a table, and ``move``: the only way from one to another.

What is not in the table cannot happen. Each move names the version and the state it starts from, so that of two at once
exactly one succeeds; what it means for others (audit, journal, notices, webhooks, recommendations) is written in the
same transaction.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction

from advisor.changes import telling
from advisor.changes.models import ChangeRequest, State
from advisor.changes.said import Said


class Step(StrEnum):
    """What can happen to a change request."""

    CREATE = "create"
    EDIT = "edit"
    SUBMIT = "submit"
    COMMENT = "comment"
    REQUEST_CHANGES = "request_changes"
    #: One more approval that does not change the state: not enough yet, or more than enough, or after an emergency.
    ENDORSE = "endorse"
    APPROVE = "approve"
    #: The plan does not hold any more: approvals fall, and it has to be submitted again.
    UNAPPROVE = "unapprove"
    SCHEDULE = "schedule"
    UNSCHEDULE = "unschedule"
    BEGIN = "begin"
    #: An emergency change begins without approvals, where the policies of the servers' tags allow it.
    BEGIN_EMERGENCY = "begin_emergency"
    AWAITS_RESTART = "awaits_restart"
    APPLIED = "applied"
    #: Somebody ran the statements by hand, and the servers have the approved values.
    RECOGNISE = "recognise"
    KEEP = "keep"
    BEGIN_ROLL_BACK = "begin_roll_back"
    ROLLED_BACK = "rolled_back"
    FAIL = "fail"
    NEED_ATTENTION = "need_attention"
    WITHDRAW = "withdraw"


_OPEN = (State.DRAFT, State.IN_REVIEW, State.CHANGES_REQUESTED, State.APPROVED, State.STALE, State.SCHEDULED)
#: Applied or being applied: nobody edits or withdraws it any more, it is kept or rolled back.
_UNDER_WAY = (State.APPLYING, State.AWAITING_RESTART, State.VERIFYING)
_APPROVABLE = (State.IN_REVIEW, State.APPROVED, State.SCHEDULED)

TRANSITIONS: dict[tuple[State, Step], State] = {
    **{(state, Step.EDIT): State.DRAFT for state in _OPEN},
    **{(state, Step.WITHDRAW): State.WITHDRAWN for state in _OPEN},
    **{(state, Step.SUBMIT): State.IN_REVIEW for state in (State.DRAFT, State.CHANGES_REQUESTED, State.STALE)},
    **{(state, Step.COMMENT): state for state in State},
    **{(state, Step.REQUEST_CHANGES): State.CHANGES_REQUESTED for state in _APPROVABLE},
    **{
        (state, Step.ENDORSE): state
        for state in (*_APPROVABLE, *_UNDER_WAY, State.KEPT, State.ROLLED_BACK, State.NEEDS_ATTENTION)
    },
    (State.IN_REVIEW, Step.APPROVE): State.APPROVED,
    **{(state, Step.UNAPPROVE): State.STALE for state in _APPROVABLE},
    (State.APPROVED, Step.SCHEDULE): State.SCHEDULED,
    (State.SCHEDULED, Step.SCHEDULE): State.SCHEDULED,
    (State.SCHEDULED, Step.UNSCHEDULE): State.APPROVED,
    (State.APPROVED, Step.BEGIN): State.APPLYING,
    (State.SCHEDULED, Step.BEGIN): State.APPLYING,
    (State.IN_REVIEW, Step.BEGIN_EMERGENCY): State.APPLYING,
    (State.APPLYING, Step.AWAITS_RESTART): State.AWAITING_RESTART,
    (State.APPLYING, Step.APPLIED): State.VERIFYING,
    (State.AWAITING_RESTART, Step.APPLIED): State.VERIFYING,
    (State.NEEDS_ATTENTION, Step.APPLIED): State.VERIFYING,
    (State.APPROVED, Step.RECOGNISE): State.VERIFYING,
    (State.SCHEDULED, Step.RECOGNISE): State.VERIFYING,
    (State.VERIFYING, Step.KEEP): State.KEPT,
    **{(state, Step.BEGIN_ROLL_BACK): State.APPLYING for state in (*_UNDER_WAY, State.KEPT, State.NEEDS_ATTENTION)},
    **{
        (state, Step.ROLLED_BACK): State.ROLLED_BACK
        for state in (State.APPLYING, State.AWAITING_RESTART, State.NEEDS_ATTENTION)
    },
    **{(state, Step.FAIL): State.FAILED for state in (State.APPLYING, State.AWAITING_RESTART, State.NEEDS_ATTENTION)},
    **{(state, Step.NEED_ATTENTION): State.NEEDS_ATTENTION for state in _UNDER_WAY},
}

#: Requests that want something of their servers still, or are at it.
LIVING = frozenset({*_OPEN, *_UNDER_WAY, State.NEEDS_ATTENTION})
#: Those that send statements or wait for what they sent.
UNDER_WAY = frozenset(_UNDER_WAY)
#: Those whose plan is to be reviewed or applied, so that it has to hold.
PLANNED = frozenset(_APPROVABLE)


class WrongState(Exception):
    """The step cannot be made from the state in which the request is; the message says so."""

    def __init__(self, state: str, step: Step) -> None:
        super().__init__(
            f"The change request is {state.replace('_', ' ')}: the step '{step.value.replace('_', ' ')}' "
            "cannot be made from there."
        )
        self.state = state
        self.step = step


class CameLate(Exception):
    """Somebody else changed the request meanwhile; nothing was done."""

    def __init__(self) -> None:
        super().__init__("Somebody else changed this change request a moment ago: load it again.")


def after(state: str, step: Step) -> State:
    """The state that a step leads to. Raises WrongState where it cannot be made."""
    try:
        return TRANSITIONS[State(state), step]
    except KeyError:
        raise WrongState(state, step) from None


def can(request: ChangeRequest, step: Step) -> bool:
    """Whether the step can be made from the present state."""
    return (State(request.state), step) in TRANSITIONS


def hold(request: ChangeRequest) -> None:
    """Holds the request's row until the transaction ends, where the database has row locks.

    Whoever writes rows that refer to a request before moving it calls this first: else two of them hold a share of the
    row each and wait for the other's.
    """
    ChangeRequest.objects.select_for_update().filter(pk=request.pk).values_list("pk").first()


def begin_step(request: ChangeRequest) -> Step:
    """The step with which applying begins: an emergency that is still in review needs no approvals."""
    emergency = request.emergency and request.state == State.IN_REVIEW
    return Step.BEGIN_EMERGENCY if emergency else Step.BEGIN


def move(
    *,
    request: ChangeRequest,
    step: Step,
    actor: AbstractBaseUser | None,
    now: datetime,
    why: Said | None = None,
    data: Mapping[str, Any] | None = None,
    fields: Mapping[str, Any] | None = None,
) -> ChangeRequest:
    """Makes one step and tells everybody whom it concerns, in one transaction. Answers the request as it is then.

    ``why`` is the reason, where there is one to tell, as a stored message; ``data`` goes into the audit and the journal
    and must be plain values; ``fields`` are columns that change with the step. Raises WrongState where the step is not
    in the table, CameLate where the request is not any more as it was when ``request`` was loaded.
    """
    target = after(request.state, step)
    changes: dict[str, Any] = {**(fields or {}), "state": target, "version": request.version + 1, "changed_at": now}
    if why is not None:
        changes["why"] = why
    elif target != request.state:
        changes["why"] = {}
    if step is Step.BEGIN_EMERGENCY and request.plan is not None:
        seconds = int(request.plan.document["policy"]["emergency_seconds"])
        changes["expires_at"] = now + timedelta(seconds=seconds)
    if step in (Step.APPLIED, Step.RECOGNISE):
        changes["applied_at"] = now
    if step is Step.UNAPPROVE or target in (State.DRAFT, State.WITHDRAWN, State.CHANGES_REQUESTED):
        changes["scheduled_at"] = None
    with transaction.atomic():
        moved = ChangeRequest.objects.filter(pk=request.pk, version=request.version, state=request.state).update(
            **changes
        )
        if not moved:
            raise CameLate
        fresh = ChangeRequest.objects.select_related("team", "plan", "author", "last_editor").get(pk=request.pk)
        telling.tell(
            request=fresh, step=step.value, before=str(request.state), actor=actor, now=now, why=why, data=data or {}
        )
    return fresh
