"""What happened. An event is written in the same transaction as what it tells of."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from advisor.teams.models import Team


class Event(models.Model):
    """One thing that happened to one subject, at one instant.

    ``kind`` is dotted (``server.restarted``, ``recommendation.opened``), ``data`` holds named values; words are
    rendered by whoever shows it. The subject is named, not linked: this room lies below the rooms whose objects it
    tells of. ``key`` is what a program calls something it tells us by, so that telling it twice is harmless; NULL for
    everything else, and NULLs are never equal, also to MySQL.
    """

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="events")
    server_id = models.CharField(max_length=16, blank=True)
    kind = models.CharField(max_length=60)
    at = models.DateTimeField()
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True)
    data = models.JSONField(default=dict)
    key = models.CharField(max_length=100, null=True, blank=True)  # noqa: DJ001 -- NULL is what leaves the key free

    class Meta:
        constraints = [models.UniqueConstraint(fields=["team", "key"], name="one_event_per_key_of_a_team")]
        indexes = [models.Index(fields=["server_id", "at"]), models.Index(fields=["team", "at"])]
        ordering = ["-at", "-id"]

    def __str__(self) -> str:
        return f"{self.kind} at {self.at:%Y-%m-%d %H:%M:%S}"
