"""What a server's system variables were, and when they changed."""

from __future__ import annotations

from django.db import models

from collector.models.server import Server


class SettingsBase(models.Model):
    """All system variables of a server as they were at the slot ``at``: what the changes after it start from.

    ``payload`` is JSON ({name: value}), compressed with zstandard. Those that the server moves by itself are left out.
    """

    server = models.OneToOneField(Server, on_delete=models.CASCADE, primary_key=True, related_name="settings_base")
    at = models.BigIntegerField()
    payload = models.BinaryField()


class SettingsChange(models.Model):
    """The system variables that the slot ``at`` shows changed: {name: [old, new]}, None where there was none."""

    server = models.ForeignKey(Server, on_delete=models.CASCADE, related_name="settings_changes")
    at = models.BigIntegerField()
    changes = models.JSONField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["server", "at"], name="one_settings_change_per_slot")]
        indexes = [models.Index(fields=["at"], name="settings_changes_at")]
