"""What people do on servers, recognised: a restart that brings the new values, and statements that somebody ran.

By reading the servers with the observe account: nothing is sent, and nothing is believed that is not seen.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime
from typing import Any

from django.db import transaction

from advisor.changes import reading, states, verifying
from advisor.changes.applying import parts, settling
from advisor.changes.applying import wording_around as around
from advisor.changes.applying.machine import End
from advisor.changes.live import BOOT_TOLERANCE_SECONDS, LiveFacts, same_server
from advisor.changes.models import Application, ChangeRequest, State
from advisor.mysql.values import same
from collector import snapshots
from collector.models import Credential

_State = Application.State
_APPLY = Application.Direction.APPLY


def restarts(now: datetime) -> None:
    """Ends applications that wait for a restart, once the server has the values."""
    waiting = Application.objects.filter(state=_State.AWAITING_RESTART).select_related("request", "server", "plan")
    for application in waiting:
        if not _may_have_changed(application):
            continue
        try:
            part = parts.part_of(application.plan, application.server_id)
            live = reading.read_live(application.server, now=now)
        except (reading.Unreadable, parts.AlteredPlan):
            continue  # It is being restarted, perhaps. The next tick looks again.
        if same_server(part["fingerprint"], live)[0]:
            continue
        wanted = "proposed" if application.direction == _APPLY else "current"
        missing = _missing(part["changes"] if application.direction == _APPLY else parts.waiting_of(part), live, wanted)
        if not missing:
            forward = application.direction == _APPLY
            end = (
                End(_State.APPLIED, around.restarted_with()) if forward else End(_State.UNDONE, around.restarted_back())
            )
            settling.end(application=application, ended=end, now=now)
        elif _restarted_since(application, live):
            Application.objects.filter(pk=application.pk, state=_State.AWAITING_RESTART).update(
                said=around.restarted_without(missing)
            )


def by_hand(now: datetime) -> None:
    """Recognises approved requests whose statements somebody ran, where there is no apply account to do it for them."""
    approved = ChangeRequest.objects.filter(state__in=[State.APPROVED, State.SCHEDULED]).select_related("plan")
    for request in approved:
        if request.plan is None:
            continue
        servers = [part["server"] for part in request.plan.document["servers"]]
        if Credential.objects.filter(server_id__in=servers, purpose="apply").count() == len(set(servers)):
            continue
        since = request.plan.made_at
        if all(_has_values(part, since, "proposed") for part in request.plan.document["servers"]):
            _recognise(request, now)


def attention(now: datetime) -> None:
    """Ends what needed a person, once that person has set all values one way or the other."""
    for request in ChangeRequest.objects.filter(state=State.NEEDS_ATTENTION).select_related("plan"):
        if request.plan is None:
            continue
        servers, since = request.plan.document["servers"], request.changed_at
        for wanted, step, why in (
            ("proposed", states.Step.APPLIED, around.by_hand()),
            ("current", states.Step.ROLLED_BACK, around.by_hand_back()),
        ):
            if all(_has_values(part, since, wanted) for part in servers):
                with suppress(states.WrongState, states.CameLate):
                    states.move(request=request, step=step, actor=None, now=now, why=why)
                break


def _recognise(request: ChangeRequest, now: datetime) -> None:
    assert request.plan is not None
    with transaction.atomic():
        try:
            moved = states.move(request=request, step=states.Step.RECOGNISE, actor=None, now=now, why=around.by_hand())
        except (states.WrongState, states.CameLate):
            return
        for part in request.plan.document["servers"]:
            application = Application.objects.create(
                request=moved,
                plan=request.plan,
                server_id=part["server"],
                direction=_APPLY,
                position=part["position"],
                state=_State.APPLIED,
                due_at=now,
                started_at=now,
                ended_at=now,
                said=around.by_hand(),
            )
            verifying.schedule_for(application, now)


def _has_values(part: dict[str, Any], since: datetime, wanted: str) -> bool:
    """Whether the newest snapshot, taken after ``since``, is of that server and has all these values of the plan."""
    newest = snapshots.latest(part["server"])
    if newest is None or newest.taken_at <= since.timestamp():
        return False
    if newest.identity.unique_id != part["fingerprint"]["unique_id"]:
        return False
    values = newest.variables
    return all(
        change["variable"] in values and same(values[change["variable"]], change[wanted]) for change in part["changes"]
    )


def _may_have_changed(application: Application) -> bool:
    """Whether it is worth connecting: not while the polls show the boot that the application found, and old values."""
    newest = snapshots.latest(application.server_id)
    if newest is None:
        return True
    booted_at = round(newest.server_clock - newest.uptime_seconds)
    before = application.fingerprint.get("booted_at")
    if not before or abs(booted_at - int(before)) > BOOT_TOLERANCE_SECONDS:
        return True
    # A parameter group, or a person, may have changed a dynamic one without a restart.
    waiting = parts.waiting_of(parts.part_of(application.plan, application.server_id))
    wanted = "proposed" if application.direction == _APPLY else "current"
    return all(same(newest.variables.get(one["variable"], ""), one[wanted]) for one in waiting)


def _missing(changes: Iterable[dict[str, Any]], live: LiveFacts, wanted: str) -> list[str]:
    return [
        f"{one['variable']} = {live.variables.get(one['variable'], '—')}"
        for one in changes
        if not same(live.variables.get(one["variable"], ""), one[wanted])
    ]


def _restarted_since(application: Application, live: LiveFacts) -> bool:
    before = application.fingerprint.get("booted_at")
    return bool(before) and abs(int(before) - live.booted_at) > BOOT_TOLERANCE_SECONDS
