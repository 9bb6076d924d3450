"""The audit's Celery task."""

from __future__ import annotations

import logging
from typing import Any

from celery import shared_task
from django.db import Error as DatabaseError
from django.utils import timezone

from advisor.teams.audit_chain import AuditError

log = logging.getLogger(__name__)


@shared_task(name="teams.keep_audit")
def keep_audit(**kwargs: Any) -> None:
    """Anchors the audit's end outside of the database, and goes through all of it once a day."""
    from advisor.teams import audit_verify

    try:
        audit_verify.keep(now=timezone.now())
    except (DatabaseError, AuditError, OSError) as error:
        log.warning("The audit's end is not anchored this minute: %s", error)
