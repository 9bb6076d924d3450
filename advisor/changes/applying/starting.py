"""How applying and rolling back begin: the gate, the rows, and a hint to the workers once all of it is committed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction

from advisor.changes import gate, people, states
from advisor.changes.applying import parts
from advisor.changes.applying import wording_around as around
from advisor.changes.applying.machine import Said
from advisor.changes.models import Application, ChangeRequest
from advisor.changes.refusing import Refused
from advisor.teams.roles import Action
from collector.models import Credential

_State = Application.State
_APPLY = Application.Direction.APPLY
_ROLL_BACK = Application.Direction.ROLL_BACK


class CannotRollBack(Refused):
    """Rolling back cannot begin now; ``code`` is the kind of the message that says why."""

    def __init__(self, message: Said) -> None:
        super().__init__(message)
        self.code = str(message["kind"])


def begin(*, request: ChangeRequest, actor: AbstractBaseUser | None, now: datetime) -> list[Application]:
    """Begins to apply the approved plan: a row for each server, worked off by workers one after the other.

    ``actor`` is who applies, or who scheduled it. Raises gate.NotOpen, states.WrongState and states.CameLate.
    """
    with transaction.atomic():
        request = _locked(request)
        gate.check(request=request, person=actor, now=now)
        assert request.plan is not None
        moved = states.move(request=request, step=states.begin_step(request), actor=actor, now=now)
        applications = [
            Application.objects.create(
                request=moved,
                plan=request.plan,
                server_id=part["server"],
                direction=_APPLY,
                position=part["position"],
                started_by_name=_name(actor),
                due_at=now,
            )
            for part in request.plan.document["servers"]
        ]
        _hand_out(applications)
    return applications


def roll_back(*, request: ChangeRequest, actor: AbstractBaseUser, now: datetime) -> list[Application]:
    """Begins to restore the approved old values, on every server where anything of the plan was done.

    It needs no second approval. Raises CannotRollBack, states.WrongState and states.CameLate.
    """
    if not people.may(actor, Action.APPLY_CHANGE, request.team_id):
        raise CannotRollBack(around.not_allowed())
    return start_back(request=request, actor=actor, now=now)


def start_back(
    *, request: ChangeRequest, actor: AbstractBaseUser | None, now: datetime, why: Said | None = None
) -> list[Application]:
    """The same by ``actor``, or by Tidemark itself (None) where the policy or an expiry demands it."""
    with transaction.atomic():
        request = _locked(request)
        assert request.plan is not None or not states.can(request, states.Step.BEGIN_ROLL_BACK)
        moved = states.move(request=request, step=states.Step.BEGIN_ROLL_BACK, actor=actor, now=now, why=why)
        there = list(
            Application.objects.select_for_update()
            .filter(request=request, plan=request.plan, direction=_APPLY)
            .select_related("server", "plan")
        )
        back = Application.objects.filter(request=request, plan=request.plan, direction=_ROLL_BACK)
        at_work = any(one.state == _State.RUNNING for one in there) or back.filter(state=_State.RUNNING).exists()
        if at_work:
            raise CannotRollBack(around.at_work())
        there_ids = [one.pk for one in there if one.state == _State.WAITING]
        Application.objects.filter(pk__in=there_ids).update(
            state=_State.CANCELLED, ended_at=now, said=around.cancelled_by_roll_back()
        )
        wanted = [one for one in there if one.pk not in there_ids and _leaves_something(one)]
        _need_credentials(wanted)
        applications = [_row(one, moved, len(wanted) - index, actor, now) for index, one in enumerate(wanted)]
        if applications:
            _hand_out(sorted(applications, key=lambda one: one.position))
        else:
            states.move(request=moved, step=states.Step.ROLLED_BACK, actor=actor, now=now)
    return applications


def _locked(request: ChangeRequest) -> ChangeRequest:
    """The request as it is now, nobody else writing it: the gate is asked of this one, not of what a page showed."""
    found = ChangeRequest.objects.select_for_update().get(pk=request.pk)
    return ChangeRequest.objects.select_related("team", "plan", "author", "last_editor").get(pk=found.pk)


def _leaves_something(application: Application) -> bool:
    """Whether there is anything to take back: statements, or values that a restart has brought or will bring."""
    try:
        if parts.done_of(application):
            return True
        waits = bool(parts.waiting_of(parts.part_of(application.plan, application.server_id)))
    except parts.AlteredPlan:
        return True  # The worker refuses it and says why.
    return waits and application.state in (_State.APPLIED, _State.AWAITING_RESTART, _State.NEEDS_ATTENTION)


def _need_credentials(applications: Sequence[Application]) -> None:
    servers = [one.server for one in applications]
    have = set(Credential.objects.filter(server__in=servers, purpose="apply").values_list("server_id", flat=True))
    without = [server.name for server in servers if server.pk not in have]
    if without:
        raise CannotRollBack(around.no_credential(without))


def _row(
    there: Application, request: ChangeRequest, position: int, actor: AbstractBaseUser | None, now: datetime
) -> Application:
    """The row of the way back, in reverse order of servers; one that ended badly before is tried anew."""
    made, _ = Application.objects.update_or_create(
        plan=there.plan,
        server=there.server,
        direction=_ROLL_BACK,
        defaults={
            "request": request,
            "position": position,
            "state": _State.WAITING,
            "started_by_name": _name(actor),
            "due_at": now,
            "started_at": None,
            "ended_at": None,
            "said": {},
        },
    )
    return made


def _hand_out(applications: Sequence[Application]) -> None:
    from advisor.changes import tasks

    tasks.hand_out_on_commit([one.pk for one in applications[:1]])


def _name(actor: AbstractBaseUser | None) -> str:
    return "" if actor is None else actor.get_username()
