"""Telling other programs how change requests go: who is told, and the outbox. The only writer of both.

What is to be told is written in the transaction of what it tells; ``webhooks_delivery`` sends it afterwards, as often
as it takes.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction

from advisor.changes import webhooks_http
from advisor.changes.models import ChangeRequest, Delivery, State, Webhook
from advisor.teams import audit
from advisor.teams.models import Team
from collector import vault
from collector.secret import Secret

#: What a secret begins with, so that a scanner for leaked ones can know it.
SECRET_PREFIX = "tmwh_"  # noqa: S105 -- the part that is the same for all
PURPOSE = "webhook"
MOST_PER_TEAM = 20


class BadWebhook(ValueError):
    """What was given cannot be used. ``field`` names it."""

    def __init__(self, field: str, sentence: str) -> None:
        self.field = field
        super().__init__(sentence)


@dataclass(frozen=True)
class NewWebhook:
    """One just made; its secret is shown once."""

    webhook: Webhook
    secret: Secret


@transaction.atomic
def add_webhook(
    *,
    team: Team,
    name: str,
    url: str,
    states: Sequence[str] = (),
    unrestricted: bool = False,
    actor: AbstractBaseUser,
    now: datetime,
) -> NewWebhook:
    """An address that is told from now on. ``states``: those it wants to hear of, none for all. Raises BadWebhook."""
    name = " ".join(name.split())
    if not name or len(name) > 100:
        raise BadWebhook("name", "The name has 1 to 100 characters.")
    unknown = sorted(set(states) - set(State.values))
    if unknown:
        raise BadWebhook("states", f"{unknown[0]!r} is no state of a change request.")
    try:
        webhooks_http.check_address(url, unrestricted=unrestricted)
    except webhooks_http.BadAddress as error:
        raise BadWebhook("url", str(error)) from None
    if Webhook.objects.filter(team=team).count() >= MOST_PER_TEAM:
        raise BadWebhook("name", f"A team has at most {MOST_PER_TEAM} webhooks: delete one first.")
    webhook = Webhook(
        team=team,
        name=name,
        url=url,
        states=[state for state in State.values if state in states],
        unrestricted=unrestricted,
        created_by_name=actor.get_username(),
        created_at=now,
    )
    secret = Secret(SECRET_PREFIX + secrets.token_urlsafe(32))
    webhook.sealed, webhook.key_id = vault.seal(secret, team_id=team.pk, server_id=webhook.pk, purpose=PURPOSE)
    webhook.save(force_insert=True)
    _recorded("webhook.added", webhook, actor, now)
    return NewWebhook(webhook, secret)


@transaction.atomic
def set_enabled(*, webhook: Webhook, enabled: bool, actor: AbstractBaseUser, now: datetime) -> None:
    """Pauses deliveries to it, or goes on with them. What happens meanwhile is not told later."""
    if Webhook.objects.filter(pk=webhook.pk, enabled=not enabled).update(enabled=enabled):
        _recorded("webhook.resumed" if enabled else "webhook.paused", webhook, actor, now)


@transaction.atomic
def delete_webhook(*, webhook: Webhook, actor: AbstractBaseUser, now: datetime) -> None:
    """Ends it, with what it was told."""
    _recorded("webhook.deleted", webhook, actor, now)
    Webhook.objects.filter(pk=webhook.pk).delete()


def _recorded(action: str, webhook: Webhook, actor: AbstractBaseUser, now: datetime) -> None:
    # Without its path: what addresses of chat programs have there is a secret of theirs.
    host = webhooks_http.read_address(webhook.url, unrestricted=True).host
    audit.record(
        team_id=webhook.team_id,
        actor=actor,
        action=action,
        subject=f"{webhook.name} ({webhook.pk})",
        data={"webhook": webhook.pk, "host": host, "states": webhook.states},
        at=now,
    )


def rotate(first: str) -> vault.Rotation:
    """Seals every secret that an older key sealed with the first key, whose id this is; for ``vault.rotate``."""
    current = Webhook.objects.filter(key_id=first).count()
    rotated, failed = 0, []
    for pk in list(Webhook.objects.exclude(key_id=first).values_list("pk", flat=True)):
        with transaction.atomic():
            webhook = Webhook.objects.select_for_update().filter(pk=pk).exclude(key_id=first).first()
            if webhook is None:
                continue
            place = {"team_id": webhook.team_id, "server_id": webhook.pk, "purpose": PURPOSE}
            try:
                secret = vault.open_sealed(webhook.sealed, name=webhook.name, **place)
            except vault.VaultError as error:
                failed.append((webhook.name, str(error)))
                continue
            webhook.sealed, webhook.key_id = vault.seal(secret, **place)
            webhook.save(update_fields=["sealed", "key_id"])
            rotated += 1
    return vault.Rotation(rotated, current, tuple(failed))


def announce(*, change_request: ChangeRequest, event: str, at: datetime) -> Sequence[Delivery]:
    """Writes down whom this is to be told. Call it inside the transaction of the state change.

    ``event`` is dotted (``change.approved``); the state that is told is the one that the request has now.
    """
    wanting = [
        webhook
        for webhook in Webhook.objects.filter(team_id=change_request.team_id, enabled=True)
        if not webhook.states or change_request.state in webhook.states
    ]
    deliveries = [_delivery(webhook, change_request, event, at) for webhook in wanting]
    if deliveries:
        Delivery.objects.bulk_create(deliveries)
        transaction.on_commit(partial(_tell_a_worker, [one.pk for one in deliveries]))
    return deliveries


def _delivery(webhook: Webhook, change_request: ChangeRequest, event: str, at: datetime) -> Delivery:
    delivery = Delivery(webhook=webhook, event=event, created_at=at, due_at=at)
    delivery.body = json.dumps(
        {
            "id": delivery.pk,
            "event": event,
            "at": at.isoformat(),
            "change": {
                "id": change_request.pk,
                "number": change_request.number,
                "title": change_request.title,
                "state": str(change_request.state),
                "team": change_request.team_id,
                "url": f"{settings.BASE_URL.rstrip('/')}/changes/{change_request.pk}",
            },
        },
        ensure_ascii=False,
        separators=(",", ":"),
    )
    return delivery


def _tell_a_worker(ids: Iterable[str]) -> None:
    from advisor.changes.webhooks_tasks import hand_out

    hand_out(ids)
