"""Whether a plan still holds: a day, a moved value or another identity ends it, and with it every approval."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from django.db import transaction

from advisor.changes import reading, states
from advisor.changes.live import LiveFacts, same_server
from advisor.changes.models import ChangeRequest, Plan, State
from advisor.changes.requests import let_fall
from advisor.changes.said import Said
from advisor.changes.said import said as _made
from advisor.changes.states import CameLate, Step
from advisor.mysql.values import same
from collector.models import Server


def refresh(*, request: ChangeRequest, now: datetime) -> ChangeRequest:
    """Holds the plan against its servers as they are now; where it does not hold any more its approvals fall.

    A server that cannot be read now proves nothing: applying reads it again. Answers the request as it is then.
    """
    if request.plan is None or not states.can(request, Step.UNAPPROVE):
        return request
    why = why_stale_for(request, reading.read_all(servers_of(request), now=now), now)
    return request if why is None else make_stale(request=request, why=why, now=now)


def expire(*, now: datetime) -> int:
    """Takes back the approvals of all plans that ran out; how many. Housekeeping calls it, once a minute."""
    over = ChangeRequest.objects.filter(state__in=states.PLANNED, plan__expires_at__lte=now)
    count = 0
    for request in over.select_related("team", "plan", "author", "last_editor")[:500]:
        try:
            make_stale(request=request, why=_ran_out(), now=now)
            count += 1
        except (CameLate, states.WrongState):
            continue  # Somebody took a step with it in this moment.
    return count


def make_stale(*, request: ChangeRequest, why: Said, now: datetime) -> ChangeRequest:
    """The plan does not hold any more. Raises WrongState, CameLate."""
    with transaction.atomic():
        states.hold(request)
        let_fall(request=request, now=now, why="stale")
        return states.move(request=request, step=Step.UNAPPROVE, actor=None, now=now, why=why)


def why_stale_for(
    request: ChangeRequest, facts: Mapping[str, LiveFacts | reading.Unreadable], now: datetime
) -> Said | None:
    """The same for a request's plan. Once it is approved somebody may be at running its statements by hand: a value
    that is the approved one is no drift, and is recognised when all of them are.
    """
    assert request.plan is not None
    approved = request.state in (State.APPROVED, State.SCHEDULED)
    return why_stale(request.plan, facts, now, by_hand=approved)


def why_stale(
    plan: Plan, facts: Mapping[str, LiveFacts | reading.Unreadable], now: datetime, *, by_hand: bool = False
) -> Said | None:
    """Why a plan does not hold for servers as they were just read, as a stored message; None where it does.

    ``by_hand``: values that are the plan's own already are no reason.
    """
    if plan.expires_at <= now:
        return _ran_out()
    for server in plan.document["servers"]:
        live = facts.get(server["server"])
        if not isinstance(live, LiveFacts):
            continue
        hard, soft = same_server(server["fingerprint"], live)
        if hard:
            return _made("Another server answers as {server}: {parts} changed.", server=server["name"],
                         parts=", ".join(hard))  # fmt: skip
        for change in server["changes"]:
            running = live.variables.get(change["variable"])
            if by_hand and running is not None and same(running, change["proposed"]):
                continue
            if running is None or not same(running, change["current"]):
                return _made(
                    "{variable} of {server} was {old} when the plan was made, and is {running} now.",
                    variable=change["variable"],
                    server=server["name"],
                    old=change["current_words"],
                    running=running if running is not None else "–",
                )
        # A restart-only change that somebody makes by hand restarts the server on purpose.
        if soft and not (by_hand and server["needs_restart"] and soft == ["booted_at"]):
            return _made("{server} is not as it was when the plan was made: {parts} changed.",
                         server=server["name"], parts=", ".join(soft))  # fmt: skip
    return None


def _ran_out() -> Said:
    return _made("The plan ran out: it holds for a day after it was submitted.")


def servers_of(request: ChangeRequest) -> list[Server]:
    """The servers that are to be changed, by name."""
    return list(Server.objects.filter(pk__in=request.wanted.values("server_id")).order_by("folded"))
