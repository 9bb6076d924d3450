"""Celery tasks of the outbox. A message names a row and nothing else; what is not heard of is found each minute."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any

from celery import shared_task
from django.utils import timezone
from kombu.exceptions import OperationalError

log = logging.getLogger(__name__)


@shared_task(name="changes.deliver")
def deliver(*, delivery_id: str, **kwargs: Any) -> None:
    """Tries one delivery."""
    from advisor.changes import webhooks_delivery

    webhooks_delivery.deliver(delivery_id=delivery_id, now=timezone.now())


@shared_task(name="changes.deliver_due")
def deliver_due(**kwargs: Any) -> None:
    """Hands out what is due again or was never heard of, and throws away what is old."""
    from advisor.changes import webhooks_delivery

    now = timezone.now()
    hand_out(webhooks_delivery.due(now))
    webhooks_delivery.delete_old(now)


def hand_out(ids: Iterable[str]) -> None:
    """Tells workers to try these. Without a broker they wait for the next minute's round."""
    try:
        for delivery_id in ids:
            deliver.apply_async(kwargs={"delivery_id": delivery_id}, expires=60, retry=False)
    except (OperationalError, OSError) as error:
        log.warning("Deliveries wait for the next round, since the broker does not answer: %s", error)
