"""Sending what the outbox holds: signed, as often as it takes, by one worker at a time.

Deliveries come at least once: a worker that ends between sending and writing that down sends again, with the same id.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
from datetime import datetime, timedelta

from django.db.models import F

from advisor.changes.models import Delivery, Webhook
from advisor.changes.webhooks import PURPOSE
from advisor.changes.webhooks_http import Answer, post
from collector import vault
from collector.secret import Secret

log = logging.getLogger(__name__)

#: How long after each attempt in vain the next one is made; after the last one it is given up.
WAITS_SECONDS = (10, 60, 300, 1800, 7200, 21_600, 43_200)
#: While somebody tries, nobody else does; a worker that was killed is followed by another after this.
CLAIM_SECONDS = 60
KEPT_DAYS = 30
SIGNATURE_HEADER = "Tidemark-Signature"


def signature(secret: Secret, body: bytes, at: datetime) -> str:
    """``t=UNIX,v1=HEX``: HMAC-SHA256 over "UNIX.BODY". The receiver refuses old instants, so that nobody sends what he
    overheard once more.
    """
    seconds = int(at.timestamp())
    digest = hmac.new(secret.reveal().encode(), f"{seconds}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={seconds},v1={digest}"


def due(now: datetime, limit: int = 100) -> list[str]:
    """Ids of deliveries to be tried now, the oldest first."""
    waiting = Delivery.objects.filter(state=Delivery.State.WAITING, due_at__lte=now, webhook__enabled=True)
    return list(waiting.order_by("due_at").values_list("pk", flat=True)[:limit])


def deliver(*, delivery_id: str, now: datetime) -> bool:
    """Tries one delivery if it is due; whether it arrived. Of several workers that hear of it one tries."""
    claimed = Delivery.objects.filter(
        pk=delivery_id, state=Delivery.State.WAITING, due_at__lte=now, webhook__enabled=True
    ).update(attempts=F("attempts") + 1, tried_at=now, due_at=now + timedelta(seconds=CLAIM_SECONDS))
    if not claimed:
        return False
    delivery = Delivery.objects.select_related("webhook").filter(pk=delivery_id).first()
    if delivery is None:
        return False
    answer = _sent(delivery, delivery.webhook, now)
    state, next_due = Delivery.State.WAITING, delivery.due_at
    if answer.ok:
        state = Delivery.State.DELIVERED
    elif delivery.attempts > len(WAITS_SECONDS) or answer.status == 410:  # gone for good, says the receiver
        state = Delivery.State.GIVEN_UP
    else:
        next_due = now + timedelta(seconds=WAITS_SECONDS[delivery.attempts - 1])
    Delivery.objects.filter(pk=delivery_id).update(
        state=state, due_at=next_due, status=answer.status, answer=answer.text, error=answer.error[:300]
    )
    return answer.ok


def _sent(delivery: Delivery, webhook: Webhook, now: datetime) -> Answer:
    try:
        secret = vault.open_sealed(
            webhook.sealed, team_id=webhook.team_id, server_id=webhook.pk, purpose=PURPOSE, name=webhook.name
        )
    except vault.VaultError as error:
        return Answer(None, error=str(error))
    body = delivery.body.encode()
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "Tidemark",
        "Tidemark-Event": delivery.event,
        "Tidemark-Delivery": delivery.pk,
        SIGNATURE_HEADER: signature(secret, body, now),
    }
    return post(webhook.url, body, headers, unrestricted=webhook.unrestricted)


def delete_old(now: datetime) -> int:
    """Throws away what was told long ago; how many."""
    old = Delivery.objects.filter(created_at__lt=now - timedelta(days=KEPT_DAYS)).order_by("created_at")
    ids = list(old.values_list("pk", flat=True)[:500])
    return Delivery.objects.filter(pk__in=ids).delete()[0] if ids else 0
