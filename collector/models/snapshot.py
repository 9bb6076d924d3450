"""Full snapshots as they were taken."""

from __future__ import annotations

from django.db import models

from collector.models.server import Server


class StoredSnapshot(models.Model):
    """One full snapshot of one slot; ``payload`` is the snapshot's JSON form, compressed with zstandard."""

    server = models.ForeignKey(Server, on_delete=models.CASCADE, related_name="snapshots")
    slot = models.BigIntegerField()
    taken_at = models.DateTimeField()
    payload = models.BinaryField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["server", "slot"], name="one_snapshot_per_slot")]
        # Thinning walks through old snapshots of all servers.
        indexes = [models.Index(fields=["slot"])]
