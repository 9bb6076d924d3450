"""Inspections that people asked for, and how the asking goes."""

from __future__ import annotations

from django.db import models

from collector.models.server import Server


class StoredInspection(models.Model):
    """One inspection of a server; ``payload`` is its JSON form, compressed with zstandard.

    ``identity`` is that of the server that answered, so that another one's tables are not taken for this one's.
    ``cost`` says what it cost the server: statements, rows, bytes, milliseconds.
    """

    server = models.ForeignKey(Server, on_delete=models.CASCADE, related_name="inspections")
    taken_at = models.DateTimeField()
    identity = models.CharField(max_length=300)
    payload = models.BinaryField()
    cost = models.JSONField(default=dict)

    class Meta:
        indexes = [models.Index(fields=["server", "taken_at"], name="inspection_newest")]


class InspectionRequest(models.Model):
    """The newest request to inspect a server: waiting until a worker started it, running until it ended.

    ``error`` says in a sentence why it failed; empty where it did not.
    """

    server = models.OneToOneField(Server, on_delete=models.CASCADE, primary_key=True, related_name="inspection_request")
    requested_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    error = models.TextField(blank=True)
