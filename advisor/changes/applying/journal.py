"""The step machine's journal: rows of the product database, each committed before the call returns.

What is not recorded is not done: the audit's entry stands in the same transaction as the row, and the statement is only
sent after both are committed.
"""

from __future__ import annotations

from collections.abc import Sequence

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from advisor.changes.applying.leases import Lease
from advisor.changes.applying.machine import Row
from advisor.changes.models import Application, Step
from advisor.teams import audit

_LONGEST = 2_000


class DatabaseJournal:
    """Writes the steps of one application. ``origin`` is the application whose steps are taken back, where another."""

    def __init__(self, application: Application, lease: Lease, origin: Application | None = None) -> None:
        self.application = application
        self.lease = lease
        self.origin = origin or application

    def hold(self) -> None:
        self.lease.renew()

    def write(self, row: Row) -> int:
        application = self.application
        with transaction.atomic():
            last = application.steps.aggregate(last=Max("number"))["last"] or 0
            step = Step.objects.create(
                application=application,
                number=last + 1,
                variable=row.variable,
                statement=row.statement,
                old=row.old[:_LONGEST],
                wanted=row.wanted[:_LONGEST],
                persisted_before=row.persisted_before,
                undoes=row.undoes,
                written_at=timezone.now(),
            )
            audit.record(
                team_id=application.request.team_id,
                action="change.statement",
                subject=f"change {application.request.number} ({application.request_id}): {application.server.name}",
                at=step.written_at,
                data={
                    "change": application.request_id,
                    "application": application.pk,
                    "server": application.server_id,
                    "step": step.number,
                    "statement": step.statement,
                    "old": step.old,
                    "wanted": step.wanted,
                    "plan_hash": application.plan.hash,
                },
            )
        return step.number

    def finish(
        self, number: int, state: str, *, found: str = "", warnings: Sequence[str] = (), window: float | None = None
    ) -> None:
        self.application.steps.filter(number=number).update(
            state=state,
            found=found[:_LONGEST],
            warnings=list(warnings),
            window_milliseconds=window,
            ended_at=timezone.now(),
        )

    def mark(self, step: int, state: str, found: str) -> None:
        self.origin.steps.filter(number=step).update(state=state, found=found[:_LONGEST], ended_at=timezone.now())
