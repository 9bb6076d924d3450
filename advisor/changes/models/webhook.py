"""Addresses that are told of a team's change requests, and what they were told: the outbox."""

from __future__ import annotations

from django.db import models

from advisor.teams.ids import LENGTH, new_id
from advisor.teams.models import Team


class Webhook(models.Model):
    """An address that is told. ``states`` are those it wants to hear of; empty: all.

    ``sealed`` is the secret that deliveries are signed with, sealed as passwords of servers are (collector/vault.py).
    ``unrestricted`` is set where an administrator of Tidemark named the address (see collector/addresses.py).
    """

    id = models.CharField(primary_key=True, max_length=LENGTH, default=new_id, editable=False)
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="webhooks")
    name = models.CharField(max_length=100)
    url = models.CharField(max_length=500)
    states = models.JSONField(default=list)
    sealed = models.BinaryField()
    key_id = models.CharField(max_length=16)
    enabled = models.BooleanField(default=True)
    unrestricted = models.BooleanField(default=False)
    created_by_name = models.CharField(max_length=150, blank=True)
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["name", "id"]

    def __str__(self) -> str:
        return self.name


class Delivery(models.Model):
    """One thing that one address is to be told, written in the transaction of what it tells.

    ``body`` is what is sent and signed, to the byte. ``due_at`` is when it is tried next; while somebody tries it, when
    others may take it up again. ``answer`` is the beginning of what came back, at most 1 KB.
    """

    class State(models.TextChoices):
        WAITING = "waiting"
        DELIVERED = "delivered"
        GIVEN_UP = "given_up"

    id = models.CharField(primary_key=True, max_length=LENGTH, default=new_id, editable=False)
    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="deliveries")
    event = models.CharField(max_length=60)
    body = models.TextField()
    state = models.CharField(max_length=9, choices=State.choices, default=State.WAITING)
    attempts = models.PositiveSmallIntegerField(default=0)
    created_at = models.DateTimeField()
    due_at = models.DateTimeField()
    tried_at = models.DateTimeField(null=True, blank=True)
    status = models.PositiveSmallIntegerField(null=True, blank=True)
    answer = models.CharField(max_length=1024, blank=True)
    error = models.CharField(max_length=300, blank=True)

    class Meta:
        indexes = [
            models.Index(fields=["state", "due_at"], name="webhook_deliveries_due"),
            models.Index(fields=["webhook", "-created_at"], name="webhook_deliveries_newest"),
        ]
        ordering = ["-created_at", "-id"]

    def __str__(self) -> str:
        return f"{self.event} to {self.webhook_id}: {self.state}"
