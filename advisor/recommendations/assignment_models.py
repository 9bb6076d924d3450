"""Who takes care of a recommendation, until when, and what people said of it."""

from __future__ import annotations

from django.conf import settings
from django.db import models


class Assignment(models.Model):
    """One row where somebody ever assigned it, gave it a day or a ticket; each may be empty again.

    ``ticket`` is an https address of another system, shown as a link and never fetched. ``due_on`` is a day, since
    nobody promises an hour.
    """

    recommendation = models.OneToOneField(
        "recommendations.Recommendation", on_delete=models.CASCADE, primary_key=True, related_name="assignment"
    )
    assignee = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    due_on = models.DateField(null=True, blank=True)
    ticket = models.CharField(max_length=500, blank=True)
    changed_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    changed_at = models.DateTimeField()

    class Meta:
        app_label = "recommendations"

    def __str__(self) -> str:
        return f"{self.recommendation_id} for {self.assignee or 'nobody'}"


class Comment(models.Model):
    """What somebody said. Never changed; ``person_name`` outlives the account."""

    recommendation = models.ForeignKey(
        "recommendations.Recommendation", on_delete=models.CASCADE, related_name="comments"
    )
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    person_name = models.CharField(max_length=150)
    text = models.TextField()
    at = models.DateTimeField()

    class Meta:
        app_label = "recommendations"
        ordering = ["at", "id"]

    def __str__(self) -> str:
        return f"{self.person_name} at {self.at:%Y-%m-%d %H:%M}"
