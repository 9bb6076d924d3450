"""The plan of a change request: what is reviewed, approved and applied, to the letter."""

from __future__ import annotations

from django.db import models

from advisor.teams.ids import LENGTH, new_id


class Plan(models.Model):
    """Never changed once written. ``hash`` is SHA-256 (hexadecimal) over the canonical form of ``document``, whose
    shape is ``planning.document``'s business; ``expires_at`` is a part of it.
    """

    id = models.CharField(primary_key=True, max_length=LENGTH, default=new_id, editable=False)
    request = models.ForeignKey("changes.ChangeRequest", on_delete=models.CASCADE, related_name="plans")
    hash = models.CharField(max_length=64)
    document = models.JSONField()
    made_at = models.DateTimeField()
    expires_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["request", "hash"], name="one_plan_per_hash")]
        ordering = ["-made_at", "-id"]

    def __str__(self) -> str:
        return f"plan {self.hash[:8]}"
