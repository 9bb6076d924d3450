"""Submitting, reviewing and scheduling. Each function is one transaction.

Servers are read before a transaction begins, never within one.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, cast

from django.contrib.auth.models import AbstractBaseUser, User
from django.core.exceptions import PermissionDenied
from django.db import transaction

from advisor.changes import gate, people, planning, policies, reading, states
from advisor.changes.checks import NotReady, checks, parts
from advisor.changes.models import ChangeRequest, Plan, Review, State
from advisor.changes.planning import BadPlan
from advisor.changes.refusing import OwnChange, StalePlan
from advisor.changes.requests import LONGEST_TEXT, BadRequest, let_fall
from advisor.changes.staleness import refresh, servers_of
from advisor.changes.states import CameLate, Step
from advisor.teams.access import access_to
from advisor.teams.roles import Action

#: How long a plan holds: what a server was asked longer ago than this is asked again.
PLAN_SECONDS = 24 * 3600
#: Of several reviews in one moment each is tried again so often.
_TRIES = 5


def submit(*, request: ChangeRequest, actor: AbstractBaseUser, now: datetime) -> ChangeRequest:
    """Reads the servers, makes the plan and asks for reviews. Raises NotReady with the checks, WrongState, CameLate."""
    states.after(request.state, Step.SUBMIT)
    facts = reading.read_all(servers_of(request), now=now)
    found = checks(request, facts)
    if not all(one.ok for one in found):
        raise NotReady(found)
    demands = policies.of_request(request)
    expires_at = now + timedelta(seconds=PLAN_SECONDS)
    wait = max(request.wait_seconds, demands["wait_seconds"])
    several = parts(request, facts)
    first = request.first_server_id or (several[0].server if demands["canary_first"] else None)
    try:
        document = planning.build(
            request=request.pk,
            title=request.title,
            made_at=now,
            expires_at=expires_at,
            parts=several,
            policy=demands,
            first=first,
            wait_seconds=wait,
        )
    except BadPlan as bad:
        raise BadRequest({"changes": str(bad)}) from None
    document["emergency"] = request.emergency
    document["checks"] = [one.document() for one in found]
    with transaction.atomic():
        states.hold(request)
        let_fall(request=request, now=now, why="submitted again")
        plan = Plan.objects.create(
            request=request,
            hash=planning.canonical_hash(document),
            document=document,
            made_at=now,
            expires_at=expires_at,
        )
        moved = states.move(
            request=request,
            step=Step.SUBMIT,
            actor=actor,
            now=now,
            fields={"plan": plan, "submitted_at": now},
        )
        if demands["approvals"] == 0 and not request.emergency:
            moved = states.move(request=moved, step=Step.APPROVE, actor=None, now=now, data={"approvals": 0})
    return moved


def review(
    *,
    request: ChangeRequest,
    actor: AbstractBaseUser,
    verdict: str,
    text: str,
    plan_hash: str,
    now: datetime,
    line: str = "",
) -> ChangeRequest:
    """One person's verdict on the plan with that hash, or a comment on it or on one of its lines.

    Raises PermissionDenied, OwnChange, StalePlan, BadRequest, WrongState and CameLate.
    """
    if verdict not in Review.Verdict.values:
        raise BadRequest({"verdict": f"A verdict is one of {', '.join(Review.Verdict.values)}."})
    if len(text) > LONGEST_TEXT or "\0" in text:
        raise BadRequest({"text": f"The text has at most {LONGEST_TEXT:,} characters."})
    access = access_to(actor, request.team_id)
    if access is None:
        raise PermissionDenied("You are not in the team of this change request.")
    takes_part = (Action.PROPOSE_CHANGE, Action.APPLY_CHANGE)
    if verdict != Review.Verdict.COMMENT or not any(access.may(one) for one in takes_part):
        access.require(Action.REVIEW_CHANGE)
    if verdict == Review.Verdict.APPROVE:
        # The reviewer approves what is there now, not what was there when the page was drawn.
        request = refresh(request=request, now=now)
    for attempt in range(_TRIES):
        try:
            return _review(request, actor, Review.Verdict(verdict), text, plan_hash, line, now)
        except CameLate:
            if attempt == _TRIES - 1:
                raise
            request = ChangeRequest.objects.select_related("team", "plan", "author", "last_editor").get(pk=request.pk)
    raise AssertionError("not reached")


def _review(
    request: ChangeRequest,
    actor: AbstractBaseUser,
    verdict: Review.Verdict,
    text: str,
    plan_hash: str,
    line: str,
    now: datetime,
) -> ChangeRequest:
    plan = request.plan
    if plan is None or plan.hash != plan_hash:
        raise StalePlan.another()
    _check_line(plan, line)
    if verdict is Review.Verdict.APPROVE:
        if request.state == State.STALE or (states.can(request, Step.UNAPPROVE) and plan.expires_at <= now):
            raise StalePlan.over()
        if planning.canonical_hash(plan.document) != plan.hash:
            raise StalePlan.altered()
        if gate.is_authors(request, actor) and not policies.in_force(request)["author_may_approve"]:
            raise OwnChange
    step = {Review.Verdict.COMMENT: Step.COMMENT, Review.Verdict.REQUEST_CHANGES: Step.REQUEST_CHANGES}.get(
        verdict, Step.ENDORSE
    )
    if verdict is Review.Verdict.REQUEST_CHANGES and not states.can(request, step) and request.emergency:
        step = Step.COMMENT  # It is applied already: what is said of it asks for a roll-back, which somebody presses.
    with transaction.atomic():
        states.hold(request)
        states.after(request.state, step)
        Review.objects.create(
            request=request,
            plan=plan,
            person=cast(User, actor),
            person_name=actor.get_username(),
            verdict=verdict,
            text=text,
            line=line,
            at=now,
        )
        fields: dict[str, Any] = {}
        if verdict is Review.Verdict.APPROVE:
            counted = gate.valid_approvals(request, just_by=actor)
            enough = len(counted) >= policies.in_force(request)["approvals"]
            if enough and states.can(request, Step.APPROVE):
                step = Step.APPROVE
            if request.emergency and counted and not states.can(request, Step.APPROVE):
                fields["expires_at"] = None  # Reviewed after the fact by another person: it stays.
        return states.move(
            request=request,
            step=step,
            actor=actor,
            now=now,
            data={"verdict": verdict.value, "plan_hash": plan.hash, "line": line},
            fields=fields,
        )


def _check_line(plan: Plan, line: str) -> None:
    if not line:
        return
    lines = {
        f"{server['server']}/{change['variable']}"
        for server in plan.document["servers"]
        for change in server["changes"]
    }
    if line not in lines:
        raise BadRequest({"line": "The plan has no such line: write a server's id, a slash and a variable."})


def schedule(*, request: ChangeRequest, actor: AbstractBaseUser, at: datetime | None, now: datetime) -> ChangeRequest:
    """An approved request begins by itself at ``at``, in the name of ``actor``; None: it does not any more.

    Raises PermissionDenied, BadRequest, WrongState and CameLate. The gate is asked again at the hour.
    """
    if not people.may(actor, Action.APPLY_CHANGE, request.team_id):
        raise PermissionDenied("Your roles do not allow this. It takes one of: operator, admin.")
    if at is None:
        return states.move(
            request=request,
            step=Step.UNSCHEDULE,
            actor=actor,
            now=now,
            fields={"scheduled_at": None, "scheduled_by": None},
        )
    states.after(request.state, Step.SCHEDULE)
    if at <= now:
        raise BadRequest({"at": "The hour has to lie in the future."})
    if request.plan is None or at >= request.plan.expires_at:
        raise BadRequest({"at": "The plan has run out by then: it holds for a day after it was submitted."})
    if not policies.is_open(policies.in_force(request)["windows"], at):
        raise BadRequest({"at": "The policies allow no change at that hour."})
    return states.move(
        request=request,
        step=Step.SCHEDULE,
        actor=actor,
        now=now,
        data={"scheduled_at": at.isoformat()},
        fields={"scheduled_at": at, "scheduled_by": actor},
    )
