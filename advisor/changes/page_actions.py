"""What somebody may do with a change request now: every button, and why one of them is grey."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import AbstractBaseUser
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from advisor.changes import gate, policies, states
from advisor.changes.gate import Condition
from advisor.changes.models import ChangeRequest, Review, State
from advisor.changes.states import Step
from advisor.teams.access import Access
from advisor.teams.roles import Action
from advisor.ui import messages

#: Who has to act where a condition is not met.
WHO: dict[str, str] = {
    "author": gettext_noop("the author"),
    "approver": gettext_noop("an approver"),
    "operator": gettext_noop("an operator"),
    "admin": gettext_noop("an admin"),
}


@dataclass(frozen=True)
class Button:
    """One deed. ``why`` is empty where it may be done, else why not."""

    id: str
    title: str
    why: str = ""
    primary: bool = False

    @property
    def allowed(self) -> bool:
        return not self.why


@dataclass(frozen=True)
class Box:
    """The merge box. ``who`` beside a condition is who must act; ``buttons`` by their id."""

    conditions: Sequence[tuple[Condition, str]]
    buttons: dict[str, Button]
    unmet: int
    shown: bool

    @property
    def ready(self) -> bool:
        return self.unmet == 0


def read(request: ChangeRequest, person: AbstractBaseUser, may: Access, now: datetime) -> Box:
    """Everything that depends on who looks."""
    shown = state_of(request) in (State.IN_REVIEW, State.APPROVED, State.SCHEDULED, State.STALE)
    found = gate.conditions(request=request, person=person, now=now) if shown else []
    conditions = [(one, "" if one.met else _(WHO[one.who]) if one.who in WHO else "") for one in found]
    unmet = [one for one in found if not one.met]
    buttons = [
        *_of_the_author(request, person, may),
        *_of_the_reviewer(request, person, may),
        *_of_who_applies(request, may, unmet),
    ]
    return Box(conditions, {one.id: one for one in buttons}, len(unmet), bool(found))


def state_of(request: ChangeRequest) -> State:
    return State(request.state)


def _role(may: Access, action: Action, enough: str) -> str:
    return "" if may.may(action) else _("This takes the role %(roles)s.") % {"roles": enough}


def _of_the_author(request: ChangeRequest, person: AbstractBaseUser, may: Access) -> list[Button]:
    role = _role(may, Action.PROPOSE_CHANGE, _("editor or admin"))
    found = []
    if states.can(request, Step.SUBMIT):
        title = _("Submit for review") if request.state == State.DRAFT else _("Submit again")
        found.append(Button("submit", title, role, primary=True))
    if states.can(request, Step.EDIT):
        found.append(Button("edit", _("Edit"), role))
    if states.can(request, Step.WITHDRAW):
        found.append(Button("withdraw", _("Withdraw"), role))
    return found


def _of_the_reviewer(request: ChangeRequest, person: AbstractBaseUser, may: Access) -> list[Button]:
    role = _role(may, Action.REVIEW_CHANGE, _("approver or admin"))
    found = []
    if states.can(request, Step.APPROVE) or (states.can(request, Step.ENDORSE) and request.state == State.APPROVED):
        own = gate.is_authors(request, person) and not policies.in_force(request)["author_may_approve"]
        done = Review.objects.filter(
            plan_id=request.plan_id, person_id=person.pk, verdict=Review.Verdict.APPROVE, fallen_at=None
        ).exists()
        if own:
            why = _("You wrote or edited this change: another person has to approve it.")
        else:
            why = role or (_("You approved this plan already.") if done else "")
        found.append(Button("approve", _("Approve"), why, primary=request.state == State.IN_REVIEW))
    if states.can(request, Step.REQUEST_CHANGES):
        found.append(Button("request_changes", _("Request changes"), role))
    return found


def _of_who_applies(request: ChangeRequest, may: Access, unmet: Sequence[Condition]) -> list[Button]:
    role = _role(may, Action.APPLY_CHANGE, _("operator or admin"))
    found = []
    if states.can(request, states.begin_step(request)):
        lacking = messages.text_of(unmet[0].message) if unmet else ""
        emergency = request.emergency and request.state == State.IN_REVIEW
        title = _("Apply now, reviewed after") if emergency else _("Apply now")
        found.append(Button("apply", title, role or lacking, primary=True))
    elif request.state == State.IN_REVIEW:
        found.append(Button("apply", _("Apply"), _("Apply is locked until every line is ✔.")))
    if states.can(request, Step.SCHEDULE):
        # At the hour itself every condition is looked at again; now it takes a plan that was approved.
        found.append(Button("schedule", _("Schedule"), role))
    if states.can(request, Step.UNSCHEDULE):
        found.append(Button("unschedule", _("Do not begin by itself"), role))
    if states.can(request, Step.KEEP):
        found.append(Button("keep", _("Keep"), role, primary=True))
    if states.can(request, Step.BEGIN_ROLL_BACK):
        found.append(Button("roll_back", _("Roll back…"), role))
    return found


def may_comment(may: Access) -> bool:
    """Whoever may do anything at all with a change request may also say something of it."""
    return any(may.may(action) for action in (Action.PROPOSE_CHANGE, Action.REVIEW_CHANGE, Action.APPLY_CHANGE))
