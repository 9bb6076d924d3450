"""A server's password, encrypted; the key is outside the database, the ciphertext bound to server and purpose."""

from __future__ import annotations

from django.db import models

from collector.models.server import Server


class Credential(models.Model):
    """``sealed`` is key id, nonce and ciphertext (AES-256-GCM, associated data: team, server, purpose): see
    collector/vault.py.
    """

    server = models.ForeignKey(Server, on_delete=models.CASCADE, related_name="credentials")
    purpose = models.CharField(max_length=8, choices=[("observe", "observe"), ("apply", "apply")])
    user = models.CharField(max_length=80)
    sealed = models.BinaryField()
    key_id = models.CharField(max_length=16)
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["server", "purpose"], name="one_credential_per_purpose")]
