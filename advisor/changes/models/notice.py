"""What a person is told inside the product."""

from __future__ import annotations

from django.conf import settings
from django.db import models


class Notice(models.Model):
    """One thing that one person should know of one change request; ``kind`` is the event's, words are the page's."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="change_notices")
    request = models.ForeignKey("changes.ChangeRequest", on_delete=models.CASCADE, related_name="notices")
    kind = models.CharField(max_length=60)
    data = models.JSONField(default=dict)
    at = models.DateTimeField()
    read_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [models.Index(fields=["user", "read_at", "at"])]
        ordering = ["-at", "-id"]

    def __str__(self) -> str:
        return f"{self.kind} for {self.user}"
