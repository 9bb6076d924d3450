"""Whom a step of a change request concerns: they get a notice inside the product, except who made the step."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.contrib.auth.models import AbstractBaseUser, User

from advisor.changes import people as persons
from advisor.changes.models import ChangeRequest, Review
from advisor.teams.roles import Action

#: Steps that ask somebody with this right to act.
_ASKS = {
    "submit": Action.REVIEW_CHANGE,
    "approve": Action.APPLY_CHANGE,
    "need_attention": Action.APPLY_CHANGE,
    "awaits_restart": Action.APPLY_CHANGE,
    "begin_emergency": Action.REVIEW_CHANGE,
}
#: Steps of which nobody is told: they are the author's own, or another step follows at once.
_SILENT = {"create", "edit", "schedule", "unschedule", "begin"}


def people(*, request: ChangeRequest, step: str, actor: AbstractBaseUser | None) -> Iterable[Any]:
    """The accounts that get a notice of the step, each once."""
    if step in _SILENT:
        return []
    found: dict[Any, Any] = {}
    if step in _ASKS:
        found |= {one.pk: one for one in persons.holders_of(_ASKS[step], request.team_id)}
    if step == "begin_emergency":
        found |= {one.pk: one for one in persons.holders_of(Action.MANAGE_TEAM, request.team_id)}
    if step != "submit":
        taking_part = Review.objects.filter(request=request).exclude(person=None).values("person_id")
        wanted = [request.author_id, request.last_editor_id]
        for one in User.objects.filter(is_active=True, memberships__team_id=request.team_id).filter(
            pk__in=[pk for pk in wanted if pk] + [row["person_id"] for row in taking_part]
        ):
            found[one.pk] = one
    if actor is not None:
        found.pop(actor.pk, None)
    return list(found.values())
