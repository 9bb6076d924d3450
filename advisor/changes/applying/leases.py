"""Who may send statements to a server now: rows changed by naming the old value, as everywhere at Tidemark.

The broker may deliver a task twice, late or never; a process may be stopped for minutes and wake up again. What counts
is the row: one process, one application, until an instant.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Q, QuerySet
from django.utils import timezone

from advisor.changes.applying.machine import LeaseLost
from advisor.changes.models import Application, ApplyLease
from collector import process

#: Longer than the longest statement, so that no second process begins while the first one waits for an answer.
LEASE_SECONDS = 300


@dataclass(frozen=True)
class Lease:
    """The right of this process to work on one application."""

    server_id: str
    application_id: str
    holder: str

    def renew(self) -> None:
        """Prolongs it. Raises LeaseLost where it ran out and another process took over."""
        now = timezone.now()
        changed = self._mine().filter(until__gt=now).update(until=now + timedelta(seconds=LEASE_SECONDS))
        if changed != 1:
            raise LeaseLost(f"the right to change server {self.server_id} is no longer this process's")

    def release(self) -> None:
        """Gives it back; does nothing where it is lost."""
        self._mine().update(holder="", application=None, until=None)

    def _mine(self) -> QuerySet[ApplyLease]:
        return ApplyLease.objects.filter(
            server_id=self.server_id, application_id=self.application_id, holder=self.holder
        )


def claim(application: Application, now: datetime) -> Lease | None:
    """Takes the server for this application; None where somebody holds it. Call it in a transaction."""
    ApplyLease.objects.get_or_create(server_id=application.server_id)
    holder = process.own_name()
    taken = (
        ApplyLease.objects.filter(server_id=application.server_id)
        .filter(Q(until=None) | Q(until__lte=now) | Q(holder=""))
        .update(holder=holder, application=application, until=now + timedelta(seconds=LEASE_SECONDS))
    )
    return Lease(application.server_id, application.pk, holder) if taken == 1 else None


def take_over(application: Application, now: datetime) -> Lease | None:
    """Takes the lease of a process that is gone: it ran out, or the process is provably dead. None while it may live.

    Two recoverers at once: the row is changed by naming its old holder and instant, so that one of them gets it.
    """
    row = ApplyLease.objects.filter(server_id=application.server_id).first()
    if row is None:
        return claim(application, now)
    free = not row.holder or row.until is None or row.until <= now
    if row.application_id not in (None, application.pk) and not free:
        return None
    if not free and not process.is_provably_dead(row.holder):
        return None
    holder = process.own_name()
    taken = ApplyLease.objects.filter(server_id=application.server_id, holder=row.holder, until=row.until).update(
        holder=holder, application=application, until=now + timedelta(seconds=LEASE_SECONDS)
    )
    return Lease(application.server_id, application.pk, holder) if taken == 1 else None


def is_free(server_id: str, now: datetime) -> bool:
    """Whether nobody sends statements to the server now."""
    held = ApplyLease.objects.filter(server_id=server_id, until__gt=now).exclude(holder="")
    return not held.exists()
