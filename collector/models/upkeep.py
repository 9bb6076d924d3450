"""What Tidemark notes of itself, so that its system page can tell whether it is well."""

from __future__ import annotations

from django.db import models


class Heartbeat(models.Model):
    """When a part of Tidemark was last seen at work. ``at`` is unix seconds.

    ``tick`` is noted by beat and a collecting worker together, ``housekeeping`` by beat and a judging worker.
    """

    name = models.CharField(max_length=20, primary_key=True)
    at = models.FloatField(default=0)


class UpkeepSample(models.Model):
    """How Tidemark was at one hour, which begins at ``hour_at`` (unix seconds).

    ``database_bytes`` is the size of the product database with its indexes, NULL where it does not say.
    ``late_p50_seconds`` and ``late_p99_seconds`` are over the newest poll of each server that answers: from the instant
    at which it was due to its being stored. NULL where no server answers.
    """

    hour_at = models.BigIntegerField(primary_key=True)
    servers = models.PositiveIntegerField(default=0)
    database_bytes = models.BigIntegerField(null=True, blank=True)
    late_p50_seconds = models.FloatField(null=True, blank=True)
    late_p99_seconds = models.FloatField(null=True, blank=True)
