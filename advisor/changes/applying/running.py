"""The body of the task: one application, carried out by this process alone, at most once.

The task may be delivered twice, and a process may die at any point of it. What makes the second delivery harmless is
that WAITING becomes RUNNING once; what makes dying harmless is that rows and live values tell how far it came
(``recovering``). Nothing here is ever tried again by itself.
"""

from __future__ import annotations

import logging
from contextlib import closing
from datetime import datetime

from django.db import transaction
from django.utils import timezone

from advisor.changes import checks, gate, policies
from advisor.changes.applying import canary, grammar, guards, leases, parts, settling, turns, wording
from advisor.changes.applying import wording_around as around
from advisor.changes.applying.journal import DatabaseJournal
from advisor.changes.applying.machine import Done, End, LeaseLost, LinkLost, Machine, Refused, Said
from advisor.changes.applying.parts import AlteredPlan, Part
from advisor.changes.applying.session import LiveSession, open_session
from advisor.changes.models import Application, State
from advisor.mysql.values import same
from advisor.mysql.version import UnknownServer, identify
from advisor.teams import audit
from collector.vault import VaultError

log = logging.getLogger(__name__)

_State = Application.State
_APPLY = Application.Direction.APPLY


def run(application_id: str) -> None:
    """Carries out one application if it is its turn and nobody else does; does nothing otherwise."""
    claimed = _claim(application_id, timezone.now())
    if claimed is None:
        return
    application, lease = claimed
    with audit.acting_as(None, "task", name=application.started_by_name or "Tidemark"):
        try:
            end = _carry_out(application, lease)
        except LeaseLost as error:
            log.warning("Application %s is left to whoever holds the server now: %s", application.pk, error)
            return
        except (LinkLost, Refused) as error:
            if application.steps.exists():
                # What the last statement did is for the live values to tell: see recovering, which the tick calls.
                log.warning("Application %s lost its connection: %s", application.pk, error)
                lease.release()
                return
            end = End("failed", wording.not_connected(str(error)))
        except Exception:
            # A fault of ours, or the product database does not answer. What was sent is read from the server soon.
            lease.release()
            raise
        with transaction.atomic():
            settling.end(application=application, ended=end, now=timezone.now())
            lease.release()


def _claim(application_id: str, now: datetime) -> tuple[Application, leases.Lease] | None:
    """The application as RUNNING with the lease of its server; None where it is not its turn, or somebody is at it."""
    with transaction.atomic():
        # What tells whether it is its turn is read under a lock where the database has row locks.
        application = (
            Application.objects.select_for_update()
            .filter(pk=application_id, state=_State.WAITING, due_at__lte=now)
            .first()
        )
        if application is None:
            return None
        application = Application.objects.select_related("request", "request__team", "server", "plan").get(
            pk=application_id
        )
        all_of_it = list(
            Application.objects.filter(
                request=application.request, plan=application.plan, direction=application.direction
            ).select_related("plan")
        )
        if application.request.state != State.APPLYING or not turns.is_due(application, all_of_it, now):
            return None
        lease = leases.claim(application, now)
        if lease is None:
            return None
        Application.objects.filter(pk=application.pk, state=_State.WAITING).update(state=_State.RUNNING, started_at=now)
        application.state = _State.RUNNING
        application.started_at = now
    return application, lease


def _carry_out(application: Application, lease: leases.Lease) -> End:
    """Sends what is to be sent. Raises LinkLost, LeaseLost and Refused."""
    forward = application.direction == _APPLY
    try:
        part = parts.part_of(application.plan, application.server_id)
        done = [] if forward else _done_before(application)
        refusal = _refusal(application, part) if forward else _not_ours(part)
        if refusal is not None:
            return End("failed", refusal)
        session = open_session(application.server, part["fingerprint"], strict=forward)
    except AlteredPlan as error:
        return End("failed", wording.not_ours(str(error)))
    except VaultError as error:
        return End("failed", wording.not_connected(str(error)))
    with closing(session):
        _note(application, session)
        if forward:
            return _there(application, part, session, lease)
        return _back(application, part, done, session, lease)


def _there(application: Application, part: Part, session: LiveSession, lease: leases.Lease) -> End:
    steps, waiting = parts.steps_of(part), parts.waiting_of(part)

    def guard() -> Said | None:
        try:
            stop = guards.why_not(session, application.server, steps, waiting, application.guards)
            return stop or _unmet_check(application, session)
        finally:
            Application.objects.filter(pk=application.pk).update(guards=application.guards)

    end = Machine(session, DatabaseJournal(application, lease), guard=guard).apply(steps)
    if end.state == "applied" and waiting:
        return End("awaiting_restart", around.awaits_restart([one["variable"] for one in waiting]))
    return end


def _unmet_check(application: Application, session: LiveSession) -> Said | None:
    """The checks that the plan passed before its review, asked again of the server as it is now."""
    server_id = application.server_id
    for one in checks.checks(application.request, {server_id: session.facts}):
        if not one.ok and not one.warns and one.server == server_id:
            return wording.not_begun_since(one.message)
    return None


def _back(application: Application, part: Part, done: list[Done], session: LiveSession, lease: leases.Lease) -> End:
    origin = _origin(application)
    end = Machine(session, DatabaseJournal(application, lease, origin)).roll_back(done)
    if end.state != "undone":
        return end
    changed = [
        one["variable"] for one in parts.waiting_of(part) if not same(session.read(one["variable"]), one["current"])
    ]
    if changed:
        return End("awaiting_restart", around.awaits_restart_back(changed))
    return end


def _refusal(application: Application, part: Part) -> Said | None:
    """What the gate held to is held to once more: the message that brought us here proves nothing."""
    request = application.request
    if request.plan_id != application.plan_id:
        return wording.another_plan()
    demands = policies.in_force(request)
    emergency = request.emergency and demands["emergency_allowed"]
    if not emergency and len(gate.valid_approvals(request)) < int(demands["approvals"]):
        return wording.approval_fell()
    if application.position > 1 and (stop := canary.why_stop(request, timezone.now())) is not None:
        return stop
    return _not_ours(part)


def _not_ours(part: Part) -> Said | None:
    """Why the plan's statements are not of our grammar for its version; None where all of them are."""
    try:
        server = identify(part["version"], "", variables={"version": part["version"]})
    except UnknownServer:
        server = None
    try:
        for step in part["steps"]:
            for text in (step["statement"], *step["undo"]):
                told = grammar.parse(text) if server is None else grammar.check(text, server)
                if told.variable != step["variable"]:
                    return wording.not_ours(f"A step of {step['variable'][:64]} sets {told.variable}.")
    except (grammar.NotOurs, KeyError, TypeError) as error:
        return wording.not_ours(str(error))
    return None


def _done_before(application: Application) -> list[Done]:
    origin = _origin(application)
    return [] if origin is None else parts.done_of(origin)


def _origin(application: Application) -> Application | None:
    """The application that a roll back is of."""
    return Application.objects.filter(
        plan_id=application.plan_id, server_id=application.server_id, direction=_APPLY
    ).first()


def _note(application: Application, session: LiveSession) -> None:
    """Who the server is as it was found, and which of its threads is ours: recovering waits until that one is gone."""
    application.fingerprint = session.facts.fingerprint()
    application.guards = {**application.guards, "connection_id": session.connection.thread_id}
    Application.objects.filter(pk=application.pk).update(fingerprint=application.fingerprint, guards=application.guards)
