"""Whether a change helped: one verdict per server and stage."""

from __future__ import annotations

from django.db import models

from advisor.changes.models.application import Application


class Verification(models.Model):
    """``document`` holds the windows, figures with intervals, what was predicted and why the verdict is what it is.

    ``due_at`` is when enough is known; until then the verdict is empty.
    """

    class Stage(models.TextChoices):
        EARLY = "early"
        HOUR = "hour"
        DAY = "day"

    class Verdict(models.TextChoices):
        IMPROVED = "improved"
        NO_DIFFERENCE = "no_difference"
        WORSE = "worse"
        CANNOT_TELL = "cannot_tell"

    application = models.ForeignKey(Application, on_delete=models.CASCADE, related_name="verifications")
    stage = models.CharField(max_length=5, choices=Stage.choices)
    due_at = models.DateTimeField()
    judged_at = models.DateTimeField(null=True, blank=True)
    verdict = models.CharField(max_length=13, choices=Verdict.choices, blank=True)
    document = models.JSONField(default=dict)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["application", "stage"], name="one_verdict_per_stage")]
        indexes = [models.Index(fields=["verdict", "due_at"])]
        ordering = ["due_at", "id"]

    def __str__(self) -> str:
        return f"{self.stage}: {self.verdict or 'not yet'}"
