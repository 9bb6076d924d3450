"""The gate of applying, which is also the merge box: every condition in one place, met or not, and who must act.

Asked by pages and the API to show it, and by applying inside its transaction to hold to it. Nobody is exempt.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib.auth.models import AbstractBaseUser

from advisor.changes import attesting, people, planning, policies, states
from advisor.changes.models import ApplyLease, ChangeRequest, Review, State
from advisor.changes.said import Said
from advisor.changes.said import said as _made
from advisor.teams.roles import Action
from collector.models import Credential, Server


@dataclass(frozen=True)
class Condition:
    """One thing that has to hold. ``who`` must act where it does not: author, approver, operator, admin or nobody.

    ``code`` is what the API's problem is called where this is the first condition that is not met.
    """

    id: str
    met: bool
    message: Said
    who: str
    code: str


class NotOpen(Exception):
    """The gate is shut. ``unmet`` are the conditions that do not hold, ``code`` that of the first."""

    def __init__(self, unmet: list[Condition]) -> None:
        from advisor.changes.said import english

        super().__init__(" ".join(english(one.message) for one in unmet))
        self.unmet = unmet
        self.code = unmet[0].code


def valid_approvals(request: ChangeRequest, *, just_by: AbstractBaseUser | None = None) -> list[Review]:
    """The approvals that count now: of the present plan, not fallen, each of another person who may approve still, and
    who neither wrote nor edited the request unless the policies allow that.

    Each has to be in the audit, signed, with the plan's hash; only of ``just_by``, who approves in this transaction, no
    entry is written yet.
    """
    if request.plan is None:
        return []
    author_may = policies.in_force(request)["author_may_approve"]
    verdicts = (Review.Verdict.APPROVE, Review.Verdict.REQUEST_CHANGES)
    reviews = Review.objects.filter(request=request, plan_id=request.plan_id, verdict__in=verdicts, fallen_at=None)
    newest: list[Review] = []
    for review in reviews.select_related("person").order_by("-at", "-pk"):
        if review.person is None or any(people.same_person(review.person, one.person) for one in newest):
            continue  # What somebody said last counts, from whichever account.
        newest.append(review)
    attested = {*attesting.approvers_of(request, request.plan), *([str(just_by.pk)] if just_by is not None else [])}
    return [
        one
        for one in newest
        if one.verdict == Review.Verdict.APPROVE
        and str(one.person_id) in attested
        and (author_may or not is_authors(request, one.person))
        and people.may(one.person, Action.REVIEW_CHANGE, request.team_id)
    ]


def is_authors(request: ChangeRequest, person: AbstractBaseUser | None) -> bool:
    """Whether the person wrote the request or edited it last, by whichever account."""
    return people.same_person(person, request.author) or people.same_person(person, request.last_editor)


def conditions(*, request: ChangeRequest, person: AbstractBaseUser | None, now: datetime) -> list[Condition]:
    """Every condition of applying, for this person; without one, who may apply is left out."""
    demands = policies.in_force(request)
    found = [_state(request), *_plan(request, now), _approvals(request, demands), _window(demands, now)]
    if person is not None:
        found.append(_who(request, person, demands))
    return [*found, _credentials(request), _others(request, now)]


def check(*, request: ChangeRequest, person: AbstractBaseUser | None, now: datetime) -> None:
    """Raises NotOpen unless every condition holds and ``person`` may apply."""
    unmet = [one for one in conditions(request=request, person=person, now=now) if not one.met]
    if person is None:
        unmet.append(
            Condition("who", False, _made("Nobody may apply this: the account is gone."), "operator", "role-too-small")
        )
    if unmet:
        raise NotOpen(unmet)


def _emergency(request: ChangeRequest, demands: dict[str, Any]) -> bool:
    return request.emergency and bool(demands["emergency_allowed"])


def _state(request: ChangeRequest) -> Condition:
    ready = states.can(request, states.begin_step(request))
    if ready:
        return Condition("state", True, _made("The request is ready to be applied."), "nobody", "not-approved")
    if request.state == State.STALE:
        message, who, code = _made("The plan does not hold any more: submit it again."), "author", "stale-plan"
    elif request.state == State.IN_REVIEW:
        message, who, code = _made("The request is in review."), "approver", "not-approved"
    elif request.state in (State.DRAFT, State.CHANGES_REQUESTED):
        message, who, code = _made("The request is not submitted."), "author", "not-approved"
    else:
        message, who, code = _made("The request was applied or is over."), "nobody", "wrong-state"
    return Condition("state", False, message, who, code)


def _plan(request: ChangeRequest, now: datetime) -> list[Condition]:
    plan = request.plan
    if plan is None:
        return [Condition("plan", False, _made("There is no plan yet."), "author", "not-approved")]
    whole = planning.canonical_hash(plan.document) == plan.hash and plan.request_id == request.pk
    fresh = plan.expires_at > now
    return [
        Condition(
            "plan",
            whole,
            _made("The plan is the one that was made.")
            if whole
            else _made(
                "The stored plan was altered: it does not have its hash. Withdraw the request and tell an admin."
            ),
            "admin",
            "stale-plan",
        ),
        Condition(
            "fresh",
            fresh,
            _made("The plan holds until {at}.", at=(plan.expires_at.timestamp(), "instant"))
            if fresh
            else _made("The plan ran out at {at}: submit it again.", at=(plan.expires_at.timestamp(), "instant")),
            "author",
            "stale-plan",
        ),
    ]


def _approvals(request: ChangeRequest, demands: dict[str, Any]) -> Condition:
    wanted = int(demands["approvals"])
    there = valid_approvals(request)
    if _emergency(request, demands) and request.state == State.IN_REVIEW:
        message = _made("An emergency change is applied first and reviewed after.")
        return Condition("approvals", True, message, "approver", "not-approved")
    if len(there) >= wanted:
        names = ", ".join(one.person_name for one in there) or "–"
        return Condition("approvals", True, _made("Approved by {names}.", names=names), "nobody", "not-approved")
    return Condition(
        "approvals",
        False,
        _made("Approvals that count: {there} of {wanted}.", there=len(there), wanted=wanted),
        "approver",
        "not-approved",
    )


def _window(demands: dict[str, Any], now: datetime) -> Condition:
    if policies.is_open(demands["windows"], now):
        return Condition("window", True, _made("The policies allow changes now."), "nobody", "not-in-window")
    message = _made("The policies allow no change at this hour.")
    return Condition("window", False, message, "operator", "not-in-window")


def _who(request: ChangeRequest, person: AbstractBaseUser, demands: dict[str, Any]) -> Condition:
    roles = demands["who_may_apply"]
    may = people.may(person, Action.APPLY_CHANGE, request.team_id) and (
        roles is None or bool(set(roles) & people.roles_of(person, request.team_id))
    )
    if may:
        return Condition("who", True, _made("You may apply it."), "nobody", "role-too-small")
    enough = ", ".join(roles) if roles else "operator, admin"
    return Condition(
        "who", False, _made("Your roles do not allow this. It takes one of: {roles}.", roles=enough), "operator",
        "role-too-small",
    )  # fmt: skip


def _servers(request: ChangeRequest) -> list[Server]:
    return list(Server.objects.filter(pk__in=request.wanted.values("server_id")).order_by("folded"))


def _credentials(request: ChangeRequest) -> Condition:
    servers = _servers(request)
    have = set(Credential.objects.filter(server__in=servers, purpose="apply").values_list("server_id", flat=True))
    without = [server.name for server in servers if server.pk not in have]
    if not without and servers:
        message = _made("There is an apply account for each server.")
        return Condition("credential", True, message, "nobody", "no-apply-credential")
    return Condition(
        "credential",
        False,
        _made(
            "There is no apply account for {servers}: run the statements yourself, Tidemark recognises their effect.",
            servers=", ".join(without) or "–",
        ),
        "admin",
        "no-apply-credential",
    )


def _others(request: ChangeRequest, now: datetime) -> Condition:
    servers = [one.pk for one in _servers(request)]
    others = ChangeRequest.objects.filter(
        wanted__server_id__in=servers, state__in=[State.APPLYING, State.NEEDS_ATTENTION]
    ).exclude(pk=request.pk)
    leased = ApplyLease.objects.filter(server_id__in=servers, until__gt=now).exclude(holder="")
    leased = leased.exclude(application__request_id=request.pk)
    other = others.order_by("number").first()
    if other is not None:
        message = _made("Change {number} is at work on the same server.", number=str(other.number))
    elif leased.exists():
        message = _made("Another change is at work on the same server.")
    else:
        return Condition("others", True, _made("No other change is at work there."), "nobody", "busy")
    return Condition("others", False, message, "operator", "busy")
