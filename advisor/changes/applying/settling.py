"""What the end of one server's application means for the request, and for the servers that come after it."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import datetime

from django.db import transaction

from advisor.changes import states, verifying
from advisor.changes.applying import wording_around as around
from advisor.changes.applying.machine import End
from advisor.changes.models import Application, ChangeRequest, State

log = logging.getLogger(__name__)

Direction = Application.Direction
Ended = Application.State
#: An application in one of these sends nothing any more.
OVER = (Ended.APPLIED, Ended.UNDONE, Ended.FAILED, Ended.NEEDS_ATTENTION, Ended.CANCELLED)
_BAD = (Ended.FAILED, Ended.NEEDS_ATTENTION)
_UNDER_WAY = (State.APPLYING, State.AWAITING_RESTART)


def end(*, application: Application, ended: End, now: datetime) -> None:
    """Writes down how an application ended, and lets the request follow. One transaction."""
    with transaction.atomic():
        # Before any other row: who rolls back holds the request first, too, and neither waits for the other then.
        states.hold(application.request)
        changed = (
            Application.objects.filter(pk=application.pk)
            .exclude(state__in=OVER)
            .update(state=ended.state, said=ended.said, ended_at=now)
        )
        if changed != 1:
            return  # Somebody ended it already, and what they wrote stays.
        application.refresh_from_db()
        if ended.state == Ended.APPLIED:
            verifying.schedule_for(application, now)
        follow(request_id=application.request_id, direction=application.direction, now=now)


def follow(*, request_id: str, direction: str, now: datetime) -> None:
    """Brings the request to where its applications are. Call it in the transaction that changed one of them."""
    request = ChangeRequest.objects.select_for_update().select_related("plan", "team").get(pk=request_id)
    if request.state not in _UNDER_WAY:
        return
    applications = list(
        Application.objects.filter(request=request, plan=request.plan, direction=direction)
        .select_related("server")
        .order_by("position")
    )
    if direction == Direction.ROLL_BACK:
        _follow_back(request, applications, now)
    else:
        _follow_there(request, applications, now)


def _follow_there(request: ChangeRequest, applications: Sequence[Application], now: datetime) -> None:
    bad = [one for one in applications if one.state in _BAD]
    if bad:
        _cancel_waiting(applications, bad[0], now)
        applied = [one for one in applications if one.state in (Ended.APPLIED, Ended.AWAITING_RESTART)]
        left = [one for one in bad if one.state == Ended.NEEDS_ATTENTION]
        if not applied and not left:
            states.move(request=request, step=states.Step.FAIL, actor=None, now=now, why=bad[0].said)
            return
        untouched = [one for one in applications if one not in bad and one not in applied]
        why = (
            bad[0].said
            if len(applications) == 1
            else {**around.outcome(_names(applied), _names(bad), _names(untouched)), "after": bad[0].said}
        )
        moved = states.move(request=request, step=states.Step.NEED_ATTENTION, actor=None, now=now, why=why)
        roll_back_by_policy(moved, now)
        return
    if any(one.state in (Ended.WAITING, Ended.RUNNING) for one in applications):
        _hand_out_next(applications, now)
        return
    if any(one.state == Ended.AWAITING_RESTART for one in applications):
        if request.state == State.APPLYING:
            why = next(one.said for one in applications if one.state == Ended.AWAITING_RESTART)
            states.move(request=request, step=states.Step.AWAITS_RESTART, actor=None, now=now, why=why)
        return
    if any(one.state == Ended.APPLIED for one in applications):
        states.move(request=request, step=states.Step.APPLIED, actor=None, now=now)


def _follow_back(request: ChangeRequest, applications: Sequence[Application], now: datetime) -> None:
    # On the way back each server is tried, whatever becomes of the others.
    if any(one.state in (Ended.WAITING, Ended.RUNNING) for one in applications):
        _hand_out_next(applications, now)
        return
    bad = [one for one in applications if one.state in _BAD]
    if bad:
        good = [one for one in applications if one not in bad]
        why = bad[0].said
        if good:
            why = {**around.outcome_back(_names(good), _names(bad)), "after": bad[0].said}
        states.move(request=request, step=states.Step.NEED_ATTENTION, actor=None, now=now, why=why)
    elif any(one.state == Ended.AWAITING_RESTART for one in applications):
        if request.state == State.APPLYING:
            why = next(one.said for one in applications if one.state == Ended.AWAITING_RESTART)
            states.move(request=request, step=states.Step.AWAITS_RESTART, actor=None, now=now, why=why)
    else:
        states.move(request=request, step=states.Step.ROLLED_BACK, actor=None, now=now)


def roll_back_by_policy(request: ChangeRequest, now: datetime) -> None:
    """Takes back what did not end well, where the approved plan says that this is done without asking."""
    if request.plan is None or not request.plan.document["policy"].get("roll_back_automatically"):
        return
    from advisor.changes.applying import starting

    try:
        starting.start_back(request=request, actor=None, now=now)
    except starting.CannotRollBack as error:
        log.warning("Change %s is not rolled back by itself: %s", request.pk, error)


def _cancel_waiting(applications: Sequence[Application], because: Application, now: datetime) -> None:
    for one in applications:
        if one.state == Ended.WAITING:
            said = around.stopped_by(because.server.name)
            changed = Application.objects.filter(pk=one.pk, state=Ended.WAITING).update(
                state=Ended.CANCELLED, ended_at=now, said=said
            )
            if changed:
                one.state = Ended.CANCELLED


def _hand_out_next(applications: Sequence[Application], now: datetime) -> None:
    """One server after the other. A canary's wait is ``turns.due``'s business; the tick finds what is due later."""
    from advisor.changes import tasks
    from advisor.changes.applying import turns

    waiting = next((one for one in applications if one.state == Ended.WAITING), None)
    if waiting is not None and turns.is_due(waiting, applications, now):
        tasks.hand_out_on_commit([waiting.pk])


def _names(applications: Sequence[Application]) -> list[str]:
    return [one.server.name for one in applications]
