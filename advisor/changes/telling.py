"""What a step of a change request means for others: the audit, the journal, people, programs and recommendations.

Called by ``states.move`` and by creating a request, inside their transaction: what cannot be told is not done.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from django.contrib.auth.models import AbstractBaseUser

from advisor.changes import concerned, webhooks
from advisor.changes.models import ChangeRequest, Notice, State, WantedChange
from advisor.changes.said import Said
from advisor.journal import services as journal
from advisor.recommendations import services as recommendations
from advisor.recommendations import states as recommended
from advisor.recommendations.models import Recommendation
from advisor.teams import audit


def tell(
    *,
    request: ChangeRequest,
    step: str,
    before: str,
    actor: AbstractBaseUser | None,
    now: datetime,
    why: Said | None,
    data: Mapping[str, Any],
) -> None:
    """Writes down one step that was just made. ``before`` is the state it started from."""
    kind = f"change.{step}"
    plain = {
        **data,
        "change": request.pk,
        "number": request.number,
        "state": str(request.state),
        "before": before,
        "version": request.version,
        "plan_hash": request.plan.hash if request.plan is not None else None,
        **({"why": why} if why else {}),
    }
    audit.record(
        team_id=request.team_id,
        action=kind,
        subject=f"change {request.number} ({request.pk}): {request.title}",
        at=now,
        data=plain,
        actor=actor,
    )
    for server_id in servers_of(request):
        journal.record(
            team_id=request.team_id,
            kind=kind,
            at=now,
            server_id=server_id,
            actor=actor,
            data={**plain, "title": request.title},
        )
    notices = [
        Notice(user=person, request=request, kind=kind, data=plain, at=now)
        for person in concerned.people(request=request, step=step, actor=actor)
    ]
    Notice.objects.bulk_create(notices)
    if str(request.state) != before:
        webhooks.announce(change_request=request, event=kind, at=now)
    _recommendations(request, step, actor, now)


def servers_of(request: ChangeRequest) -> list[str]:
    """The servers that the request speaks of, each once."""
    ids = WantedChange.objects.filter(request=request).order_by("pk").values_list("server_id", flat=True)
    return list(dict.fromkeys(ids))


_STEPS = {
    "submit": recommended.Step.TAKE_INTO_CHANGE,
    "withdraw": recommended.Step.RELEASE_FROM_CHANGE,
    "applied": recommended.Step.APPLY,
    "recognise": recommended.Step.APPLY,
}


def _recommendations(request: ChangeRequest, step: str, actor: AbstractBaseUser | None, now: datetime) -> None:
    """Brings the recommendations behind a request up to what happened to it."""
    rows = Recommendation.objects.filter(wanted_changes__request=request).select_related("server").distinct()
    if step in _STEPS:
        _move(rows, _STEPS[step], request, actor, now)
    elif step in ("rolled_back", "fail"):
        # An applied one is open again, and so is one whose change never got as far.
        _move(rows, recommended.Step.ROLL_BACK, request, actor, now)
        _move(rows, recommended.Step.RELEASE_FROM_CHANGE, request, actor, now)


def release(
    *,
    request: ChangeRequest,
    recommendations_of: Iterable[Recommendation],
    actor: AbstractBaseUser | None,
    now: datetime,
) -> None:
    """Recommendations that an edit took out of a request are open again."""
    _move(recommendations_of, recommended.Step.RELEASE_FROM_CHANGE, request, actor, now)


def _move(
    rows: Iterable[Recommendation],
    step: recommended.Step,
    request: ChangeRequest,
    actor: AbstractBaseUser | None,
    now: datetime,
) -> None:
    for row in rows:
        row.refresh_from_db(fields=["state"])
        if (row.state, step) not in recommended.TRANSITIONS:
            continue  # It was resolved or dismissed meanwhile: that is what counts then.
        if step is recommended.Step.RELEASE_FROM_CHANGE and _wanted_elsewhere(row, request):
            continue
        try:
            recommendations.move_with_change(recommendation=row, step=step, actor=actor, now=now)
        except recommended.WrongState:
            continue  # Judging moved it in this very moment.


def _wanted_elsewhere(row: Recommendation, request: ChangeRequest) -> bool:
    """Whether another request that was submitted and is not over wants the same."""
    submitted = (State.IN_REVIEW, State.CHANGES_REQUESTED, State.APPROVED, State.STALE, State.SCHEDULED, State.APPLYING)
    others = WantedChange.objects.filter(recommendation=row, request__state__in=submitted)
    return others.exclude(request=request).exists()
