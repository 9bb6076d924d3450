"""The Celery task that looks for changes whose verdict is due. What is due stands in the database."""

from __future__ import annotations

import logging
from typing import Any

from celery import shared_task
from django.db import Error as DatabaseError
from django.utils import timezone

log = logging.getLogger(__name__)


@shared_task(name="changes.verify", ignore_result=True)
def verify(**kwargs: Any) -> int:
    """Judges what is due. Running twice at once judges a stage once."""
    from advisor.changes import verifying

    try:
        return verifying.tick(timezone.now())
    except DatabaseError as error:
        log.warning("Verdicts wait for their next turn, since the product database does not answer: %s", error)
        return 0
