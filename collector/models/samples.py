"""The embedded sample history: raw polls of the open hour, sealed blocks, digests and gaps."""

from __future__ import annotations

from django.db import models

from collector.models.server import Server


class OpenSample(models.Model):
    """One poll that is not yet part of a sealed block. The unique slot makes writing it twice harmless."""

    server = models.ForeignKey(Server, on_delete=models.CASCADE, related_name="open_samples")
    slot = models.BigIntegerField()
    payload = models.BinaryField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["server", "slot"], name="one_sample_per_slot")]
        # Sealing looks for the oldest rows of all servers.
        indexes = [models.Index(fields=["slot"])]


class SealedBlock(models.Model):
    """All polls of one server in one hour as compressed columns; written once, never rewritten."""

    server = models.ForeignKey(Server, on_delete=models.CASCADE, related_name="blocks")
    hour_at = models.BigIntegerField()
    count = models.PositiveIntegerField()
    payload = models.BinaryField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["server", "hour_at"], name="one_block_per_hour")]
        indexes = [models.Index(fields=["hour_at"])]


class Digest(models.Model):
    """One hour condensed (``advisor.mysql.digest.HourlyDigest`` as JSON): long windows are judged from these."""

    server = models.ForeignKey(Server, on_delete=models.CASCADE, related_name="digests")
    hour_at = models.BigIntegerField()
    data = models.JSONField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["server", "hour_at"], name="one_digest_per_hour")]


class Gap(models.Model):
    """A time without samples, and why. Unix seconds; an open gap has no end."""

    server = models.ForeignKey(Server, on_delete=models.CASCADE, related_name="gaps")
    started_at = models.FloatField()
    ended_at = models.FloatField(null=True, blank=True)
    why = models.CharField(max_length=200)

    class Meta:
        indexes = [models.Index(fields=["server", "started_at"]), models.Index(fields=["ended_at"])]
