"""Whether an applied change helped: judged early, after an hour and after a day; kept by a person, or taken back.

Every function here is safe to repeat: a stage is judged once, and what it found is never written over.
"""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction

from advisor.changes import concerned, people, states
from advisor.changes import verifying_document as documents
from advisor.changes.models import Application, ChangeRequest, Notice, State, Verification
from advisor.changes.verifying_history import SETTLE, Applied, applied, judged
from advisor.changes.verifying_predicted import predicted
from advisor.engine.units import DAY, HOUR, MINUTE
from advisor.engine.verdict import Judgement, Verdict, Why
from advisor.engine.verdict_windows import ENOUGH_POLLS
from advisor.journal import services as journal
from advisor.teams import audit
from advisor.teams.roles import Action

log = logging.getLogger(__name__)

_AFTER = {Verification.Stage.HOUR: HOUR, Verification.Stage.DAY: DAY}
#: An early verdict that could not be told is tried again until then: a load that swings comes back to where it was.
EARLY_UNTIL_SECONDS = 40 * MINUTE
_AGAIN_SECONDS = 20
#: What time may change about "cannot tell", so that an early verdict is worth another try.
_MAY_PASS = {Why.TOO_LITTLE, Why.LOAD, Why.GAPS, Why.IDLE}
#: No more in one round: each reads hours of history.
_A_ROUND = 20
#: Requests in these states have the values that were applied, so that judging them means something.
_IN_FORCE = (State.VERIFYING, State.KEPT)


def schedule_for(application: Application, now: datetime) -> list[Verification]:
    """Notes when the change on this server is to be judged. Call it where the application ends as applied."""
    ended = application.ended_at or now
    fast = application.server.fast_interval_seconds
    soon = SETTLE.least + (ENOUGH_POLLS + 1) * fast
    due = {Verification.Stage.EARLY: soon, **_AFTER}
    return [
        Verification.objects.get_or_create(
            application=application, stage=stage, defaults={"due_at": ended + timedelta(seconds=seconds)}
        )[0]
        for stage, seconds in due.items()
    ]


def tick(now: datetime) -> int:
    """Judges what is due; how many verdicts there are. What fails is logged and holds up nothing else."""
    due = (
        Verification.objects.filter(judged_at=None, due_at__lte=now, application__request__state__in=_IN_FORCE)
        .select_related("application__request__team", "application__plan", "application__server")
        .order_by("due_at")
    )
    told = 0
    for row in due[:_A_ROUND]:
        try:
            told += bool(_judge(row, now).judged_at)
        except Exception:
            # One server's damaged history must not keep others waiting; this one is tried again later.
            log.exception("The %s verdict on application %s could not be reached.", row.stage, row.application_id)
            Verification.objects.filter(pk=row.pk).update(due_at=now + timedelta(minutes=10))
    return told


def verify_now(*, request: ChangeRequest, actor: AbstractBaseUser | None, now: datetime) -> list[Verification]:
    """Judges the next stage of each server with what is known by now; answers the rows.

    Before a stage is due this changes nothing but what is shown as known so far. Raises WrongState where nothing is
    applied.
    """
    if request.state not in _IN_FORCE:
        raise NothingApplied(request.state)
    found = []
    rows = Application.objects.filter(
        request=request, direction=Application.Direction.APPLY, state=Application.State.APPLIED
    )
    for application in rows.select_related("request__team", "plan", "server"):
        schedule_for(application, now)
        row = application.verifications.filter(judged_at=None).order_by("due_at").first()
        if row is None:
            found.append(application.verifications.order_by("-due_at")[0])
            continue
        row.application = application
        found.append(_judge(row, now))
    return found


class NothingApplied(Exception):
    """There is nothing to judge: the change is not in force."""

    def __init__(self, state: str) -> None:
        super().__init__(f"The change request is {state.replace('_', ' ')}: there is nothing to verify.")
        self.state = state


def keep(*, request: ChangeRequest, actor: AbstractBaseUser | None, now: datetime) -> ChangeRequest:
    """Somebody decides that the change stays. Raises WrongState and CameLate as ``states.move``."""
    said = {one.application.server_id: one.verdict for one in newest(request) if one.verdict}
    return states.move(request=request, step=states.Step.KEEP, actor=actor, now=now, data={"verdicts": said})


def newest(request: ChangeRequest) -> list[Verification]:
    """The latest verdict on each server, in the order in which they were changed; a row not judged yet stands for a
    server without any.
    """
    rows = Verification.objects.filter(
        application__request=request, application__direction=Application.Direction.APPLY
    ).select_related("application__server")
    found: dict[str, Verification] = {}
    for row in rows.order_by("application__position", "due_at"):
        if row.application_id not in found or row.judged_at is not None:
            found[row.application_id] = row
    return list(found.values())


def _judge(row: Verification, now: datetime) -> Verification:
    """Judges one row with what is known; final where the stage is due and enough is known, else what is known so far.

    Reading takes a while, so that it is done before the transaction.
    """
    application = row.application
    done = applied(application)
    judgement, settled = judged(done, row.stage, now.timestamp())
    final = _final(row, judgement, done, now)
    # Simulated once, with the first verdict: a prediction that is made again later is none.
    bands = _predicted(row, done) if final else []
    told = documents.document(judgement, done, settled_at=settled, predicted=bands)
    if not final:
        again = max(row.due_at, now + timedelta(seconds=_AGAIN_SECONDS)) if row.due_at <= now else row.due_at
        Verification.objects.filter(pk=row.pk, judged_at=None).update(document=told, due_at=again)
        row.document, row.due_at = told, again
        return row
    with transaction.atomic():
        mine = Verification.objects.filter(pk=row.pk, judged_at=None).update(
            document=told, verdict=judgement.verdict.value, judged_at=now
        )
        row.refresh_from_db()
        if not mine:
            return row
        _tell(row, now)
    if row.verdict == Verification.Verdict.WORSE:
        _worse(row, now)
    return row


def _predicted(row: Verification, done: Applied) -> list[dict[str, Any]]:
    earlier = row.application.verifications.exclude(pk=row.pk).exclude(judged_at=None).order_by("judged_at").first()
    found: list[dict[str, Any]] = predicted(done) if earlier is None else earlier.document.get("predicted", [])
    return found


def _final(row: Verification, judgement: Judgement, done: Applied, now: datetime) -> bool:
    """Whether this is the stage's verdict. Hours and days are judged when they are over; an early one as soon as there
    is something to say, which may be before it was expected if a person asks.
    """
    if row.stage != Verification.Stage.EARLY:
        return row.due_at <= now
    if judgement.verdict is not Verdict.CANNOT_TELL or judgement.why not in _MAY_PASS:
        return True
    return now.timestamp() >= done.ended_at + EARLY_UNTIL_SECONDS


def _tell(row: Verification, now: datetime) -> None:
    """The audit, the journal and everybody concerned hear of a verdict, in its transaction."""
    application, request = row.application, row.application.request
    server = application.server
    data: dict[str, Any] = {
        "change": request.pk,
        "number": request.number,
        "title": request.title,
        "server": server.pk,
        "server_name": server.name,
        "stage": row.stage,
        "verdict": row.verdict,
        "state": str(request.state),
    }
    audit.record(
        team_id=request.team_id,
        action="change.verified",
        subject=f"change {request.number} ({request.pk}): {server.name}",
        at=now,
        data={key: data[key] for key in ("change", "server", "stage", "verdict")},
    )
    journal.record(team_id=request.team_id, kind="change.verified", at=now, server_id=server.pk, data=data)
    asked = {one.pk: one for one in concerned.people(request=request, step="verified", actor=None)}
    if row.verdict == Verification.Verdict.WORSE:
        asked |= {one.pk: one for one in people.holders_of(Action.APPLY_CHANGE, request.team_id)}
    Notice.objects.bulk_create(
        Notice(user=person, request=request, kind="change.verified", data=data, at=now) for person in asked.values()
    )


def _worse(row: Verification, now: datetime) -> None:
    """What got worse is taken back by itself where the policies say so; elsewhere people were asked.

    A change that a person kept stays: that person has looked at it.
    """
    request = ChangeRequest.objects.select_related("plan", "team").get(pk=row.application.request_id)
    if request.state != State.VERIFYING:
        return
    # Imported here: applying schedules what is verified, and is what takes it back.
    from advisor.changes.applying import settling

    settling.roll_back_by_policy(request, now)
