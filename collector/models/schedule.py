"""Who polls what, and what is due. The broker only hints; these rows decide."""

from __future__ import annotations

from django.db import models

from collector.models.server import Server


class Shard(models.Model):
    """A group of servers that one worker process polls side by side while it holds the lease.

    ``owner`` names host, process and start of the holder; ``lease_until`` is unix seconds by the database clock's
    reader (processes of one installation keep their clocks together). ``term`` rises with every claim, so that a holder
    which lost its lease can notice before it writes.
    """

    number = models.PositiveIntegerField(primary_key=True)
    owner = models.CharField(max_length=120, blank=True)
    lease_until = models.FloatField(default=0)
    term = models.BigIntegerField(default=0)


class ServerState(models.Model):
    """How watching one server goes. Slots are unix seconds; a slot's row in the store is written once.

    ``fast_slot`` and ``full_slot`` are the next ones due. ``identity`` is the newest identity as a snapshot has it.
    """

    server = models.OneToOneField(Server, on_delete=models.CASCADE, primary_key=True, related_name="state")
    fast_slot = models.BigIntegerField(default=0)
    full_slot = models.BigIntegerField(default=0)
    failures = models.PositiveIntegerField(default=0)
    error_kind = models.CharField(max_length=40, blank=True)
    error = models.TextField(blank=True)
    error_since = models.DateTimeField(null=True, blank=True)
    retry_at = models.FloatField(default=0)
    last_poll_at = models.DateTimeField(null=True, blank=True)
    last_snapshot_at = models.DateTimeField(null=True, blank=True)
    identity = models.JSONField(default=dict)
    cost = models.JSONField(default=dict)
