"""The tick: what goes on by itself. Each part looks at rows and does what is due; two ticks at once are harmless."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime

from django.db import Error as DatabaseError
from django.db import transaction

from advisor.changes import gate, states
from advisor.changes.applying import canary, recognising, settling, starting, turns
from advisor.changes.applying import wording_around as around
from advisor.changes.applying.machine import End
from advisor.changes.models import Application, ChangeRequest, State

log = logging.getLogger(__name__)

_State = Application.State
_APPLY = Application.Direction.APPLY


def advance(now: datetime) -> None:
    """Begins what is scheduled, watches canaries, hands out whose turn it is, recognises restarts and statements that
    people ran, takes back what expired.
    """
    for part in (
        begin_scheduled,
        watch_canaries,
        hand_out,
        recognising.restarts,
        recognising.by_hand,
        recognising.attention,
        expire,
    ):
        _apart(part, now)


def _apart(part: Callable[[datetime], None], now: datetime) -> None:
    """A fault of one part holds up no other, and is seen in the log."""
    try:
        part(now)
    except DatabaseError:
        raise
    except Exception:
        log.exception("A part of the changes' tick failed: %s", part.__name__)


def begin_scheduled(now: datetime) -> None:
    """Begins scheduled requests whose hour has come, in the name of who scheduled them. While the gate is shut for a
    reason that passes (a window, another change) they wait; ``services.refresh`` makes the plan stale when it runs out.
    """
    for request in ChangeRequest.objects.filter(state=State.SCHEDULED, scheduled_at__lte=now).order_by("scheduled_at"):
        try:
            starting.begin(request=request, actor=request.scheduled_by, now=now)
        except gate.NotOpen as shut:
            log.info("Change %s waits: %s", request.pk, shut)
        except (states.WrongState, states.CameLate):
            continue


def watch_canaries(now: datetime) -> None:
    """Stops the servers that wait for the first one where that one does badly."""
    waiting = Application.objects.filter(
        state=_State.WAITING, direction=_APPLY, position__gt=1, request__state=State.APPLYING
    )
    for pk in list(waiting.order_by().values_list("request_id", flat=True).distinct()):
        request = ChangeRequest.objects.get(pk=pk)
        stop = canary.why_stop(request, now)
        if stop is None:
            continue
        one = waiting.filter(request=request).order_by("position").first()
        if one is not None:
            with transaction.atomic():
                settling.end(application=one, ended=End(_State.FAILED, stop), now=now)


def hand_out(now: datetime) -> None:
    """Tells workers whose turn it is: messages get lost, and a canary's wait ends without one."""
    from advisor.changes import tasks

    due = Application.objects.filter(state=_State.WAITING, due_at__lte=now, request__state=State.APPLYING)
    ready = []
    for application in due.select_related("plan"):
        all_of_it = list(
            Application.objects.filter(
                request_id=application.request_id, plan_id=application.plan_id, direction=application.direction
            )
        )
        if turns.is_due(application, all_of_it, now):
            ready.append(application.pk)
    tasks.hand_out(ready)


def expire(now: datetime) -> None:
    """Takes back emergency changes that nobody approved before they expired. One that was kept stays."""
    late = ChangeRequest.objects.filter(
        emergency=True, expires_at__lte=now, state__in=[State.VERIFYING, State.AWAITING_RESTART, State.NEEDS_ATTENTION]
    )
    for request in late.select_related("plan"):
        if request.plan is None or len(gate.valid_approvals(request)) >= int(
            request.plan.document["policy"]["approvals"]
        ):
            continue
        back = Application.objects.filter(
            request=request, plan_id=request.plan_id, direction=Application.Direction.ROLL_BACK
        )
        if back.exists():
            continue  # It was tried once; what is left of it needs a person.
        try:
            starting.start_back(request=request, actor=None, now=now, why=around.expired())
        except (starting.CannotRollBack, states.WrongState, states.CameLate) as error:
            log.warning("The emergency change %s cannot be taken back now: %s", request.pk, error)
