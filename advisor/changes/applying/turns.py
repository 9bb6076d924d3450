"""Whose turn it is: one server after the other, and after the first one the wait that the plan demands."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from advisor.changes.models import Application

_State = Application.State
#: After these the next server may follow.
_GOES_ON = (_State.APPLIED, _State.AWAITING_RESTART)


def is_due(application: Application, applications: Sequence[Application], now: datetime) -> bool:
    """Whether the waiting application may begin now. ``applications`` are all of its request and direction."""
    if application.state != _State.WAITING or application.due_at > now:
        return False
    before = [one for one in applications if one.position < application.position]
    if application.direction == Application.Direction.ROLL_BACK:
        return all(one.state not in (_State.WAITING, _State.RUNNING) for one in before)
    if not all(one.state in _GOES_ON for one in before):
        return False
    return wait_until(application, before) <= now


def wait_until(application: Application, before: Sequence[Application]) -> datetime:
    """Until when the servers after the first one wait, by the approved plan. The first one waits for nobody."""
    first = min(before, key=lambda one: one.position, default=None)
    if first is None:
        return application.due_at
    begun = first.ended_at or first.started_at or first.due_at
    return begun + timedelta(seconds=int(application.plan.document.get("wait_seconds") or 0))
