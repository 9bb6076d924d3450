"""What people said of a plan."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from advisor.changes.models.plan import Plan


class Review(models.Model):
    """One verdict or comment on one plan. Never deleted; an approval that does not count any more has ``fallen_at``.

    ``person_name`` outlives the account. ``line`` is "<server id>/<variable>" where it speaks of one line of the plan.
    """

    class Verdict(models.TextChoices):
        APPROVE = "approve"
        REQUEST_CHANGES = "request_changes"
        COMMENT = "comment"

    request = models.ForeignKey("changes.ChangeRequest", on_delete=models.CASCADE, related_name="reviews")
    plan = models.ForeignKey(Plan, on_delete=models.PROTECT, related_name="reviews")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    person_name = models.CharField(max_length=150)
    verdict = models.CharField(max_length=16, choices=Verdict.choices)
    text = models.TextField(blank=True)
    line = models.CharField(max_length=90, blank=True)
    at = models.DateTimeField()
    fallen_at = models.DateTimeField(null=True, blank=True)
    fallen_why = models.CharField(max_length=40, blank=True)

    class Meta:
        ordering = ["at", "id"]

    def __str__(self) -> str:
        return f"{self.verdict} by {self.person_name}"
