"""A target server: where it is, how it is reached, what people told us of it."""

from __future__ import annotations

from django.db import models

from advisor.teams.ids import LENGTH, new_id
from advisor.teams.models import Team


class TlsMode(models.TextChoices):
    """How far the connection is trusted. The default is ``verify-identity``, except for loopback and sockets."""

    VERIFY_IDENTITY = "verify-identity", "verify the certificate and the name"
    VERIFY_CA = "verify-ca", "verify the certificate, not the name"
    OPPORTUNISTIC = "opportunistic", "take TLS if it is offered (loopback and sockets)"
    INSECURE = "insecure", "insecure: no verification, I accept the risk"


class Server(models.Model):
    """One running mysqld or mariadbd that is watched.

    ``folded`` is the name as it is compared (case-folded), unique within the team. ``socket`` wins over host and port.
    ``host_facts`` holds what is known of the machine, each with its origin:
    {"memory_bytes": {"value": ..., "origin": "stated"}}.
    ``unrestricted`` is set where an administrator or the command line named the address: then loopback, sockets and any
    port are allowed; other addresses are held to the deny list at every connect.
    """

    id = models.CharField(primary_key=True, max_length=LENGTH, default=new_id, editable=False)
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="servers")
    name = models.CharField(max_length=100)
    folded = models.CharField(max_length=100)
    host = models.CharField(max_length=255, blank=True)
    port = models.PositiveIntegerField(default=3306)
    socket = models.CharField(max_length=107, blank=True)
    user = models.CharField(max_length=80)
    tls_mode = models.CharField(max_length=16, choices=TlsMode.choices, default=TlsMode.VERIFY_IDENTITY)
    tls_ca = models.TextField(blank=True)
    tags = models.JSONField(default=list)
    fast_interval_seconds = models.PositiveIntegerField(default=10)
    full_interval_seconds = models.PositiveIntegerField(default=60)
    enabled = models.BooleanField(default=True)
    host_facts = models.JSONField(default=dict)
    unrestricted = models.BooleanField(default=False)
    shard = models.ForeignKey("collector.Shard", on_delete=models.PROTECT, related_name="servers")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["team", "folded"], name="server_name_unique_in_team")]

    def __str__(self) -> str:
        return self.name

    @property
    def address(self) -> str:
        """Where it is, as people write it."""
        return self.socket or f"{self.host}:{self.port}"

    @property
    def is_insecure(self) -> bool:
        return self.tls_mode == TlsMode.INSECURE
