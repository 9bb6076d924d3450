"""Celery tasks of this room: ids only. The broker hints; whether anything is done, and once, is decided by rows.

A message on the queue ``apply`` is acknowledged before it is worked on and never delivered again on purpose: what
became of an application whose worker died is read from the server, not tried a second time.
"""

from __future__ import annotations

import logging
import signal
from collections.abc import Iterable
from typing import Any

from celery import shared_task
from celery.signals import worker_process_init
from django.db import transaction
from django.utils import timezone
from kombu.exceptions import OperationalError

log = logging.getLogger(__name__)

QUEUE = "apply"
#: A task that hangs is killed after this; the live values tell what it did. The longest statements take minutes each.
LIMIT_SECONDS = 1800


@worker_process_init.connect
def _finish_what_was_begun(**kwargs: Any) -> None:
    """Children of the applying worker do not end in the middle of a plan because all of Tidemark is being stopped.

    Whoever stops it tells the whole group of processes. The worker itself lets its children finish and then ends them;
    only one that takes too long is killed, and the live values tell how far it came.
    """
    signal.signal(signal.SIGTERM, signal.SIG_IGN)


@shared_task(
    name="changes.apply",
    acks_late=False,
    reject_on_worker_lost=False,
    max_retries=0,
    ignore_result=True,
    time_limit=LIMIT_SECONDS,
)
def apply(*, application_id: str, **kwargs: Any) -> None:
    """Carries out one application."""
    from advisor.changes.applying import run

    run(application_id)


@shared_task(name="changes.tick", ignore_result=True)
def tick(**kwargs: Any) -> None:
    """What goes on by itself: recovering, schedules, canaries, restarts, expiry, and plans that hold no more."""
    from advisor.changes import upkeep
    from advisor.changes.applying import advance, recover

    recover()
    advance(timezone.now())
    # After recognising what people ran by hand: their values are no drift.
    upkeep.hold(timezone.now())


def hand_out_on_commit(ids: list[str]) -> None:
    """Tells the workers once the present transaction is committed; a rolled back one tells nobody anything."""
    transaction.on_commit(lambda: hand_out(ids))


def hand_out(ids: Iterable[str]) -> None:
    """Tells the workers to work on these. Without a broker the next tick does."""
    try:
        for application_id in ids:
            apply.apply_async(kwargs={"application_id": application_id}, queue=QUEUE, expires=60, retry=False)
    except (OperationalError, OSError) as error:
        log.warning("Applications wait for the next tick, since the broker does not answer: %s", error)
