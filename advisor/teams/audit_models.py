"""What was done, by whom: rows that are only ever added, each bound to the one before."""

from __future__ import annotations

from django.db import models


class AuditEntry(models.Model):
    """One entry. It keeps names beside ids and points at nothing, so that deleting a team or a person changes none.

    ``digest`` is the HMAC-SHA256 (hex) of all other columns in the form of ``audit_chain.canonical``, ``previous``
    among them: the digest of the entry before. ``data`` is text and no JSON column, since a database that puts JSON
    into a form of its own would change what was signed. Empty texts where nothing is known: ``team_id`` is empty for
    what concerns the whole installation, ``actor_id`` where no account did it.
    """

    sequence = models.BigIntegerField(primary_key=True)
    at = models.DateTimeField()
    team_id = models.CharField(max_length=16, blank=True)
    team_name = models.CharField(max_length=100, blank=True)
    actor_id = models.CharField(max_length=40, blank=True)
    actor_name = models.CharField(max_length=150, blank=True)
    origin = models.CharField(max_length=10)
    action = models.CharField(max_length=60)
    subject = models.CharField(max_length=200, blank=True)
    data = models.TextField()
    request_id = models.CharField(max_length=40, blank=True)
    address = models.CharField(max_length=64, blank=True)
    key_id = models.CharField(max_length=16)
    previous = models.CharField(max_length=64)
    digest = models.CharField(max_length=64)

    class Meta:
        app_label = "teams"
        indexes = [
            models.Index(fields=["team_id", "-sequence"], name="audit_by_team"),
            models.Index(fields=["at"], name="audit_by_time"),
            models.Index(fields=["actor_name", "-sequence"], name="audit_by_actor"),
        ]

    def __str__(self) -> str:
        return f"{self.sequence}: {self.action} {self.subject} by {self.actor_name or self.origin}"


class AuditHead(models.Model):
    """The end of the chain, one row: whoever adds an entry locks it, so that there is one writer at a time.

    ``verified_*`` tell of the last time somebody went through the whole chain; ``verified_wrong`` is empty where it was
    whole.
    """

    id = models.SmallIntegerField(primary_key=True, default=1)
    sequence = models.BigIntegerField(default=0)
    digest = models.CharField(max_length=64)
    verified_sequence = models.BigIntegerField(default=0)
    verified_at = models.DateTimeField(null=True, blank=True)
    verified_wrong = models.CharField(max_length=300, blank=True)

    class Meta:
        app_label = "teams"

    def __str__(self) -> str:
        return f"the audit ends with entry {self.sequence}"
