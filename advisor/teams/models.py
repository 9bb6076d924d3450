"""People, teams and what lets a person or a program in."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from advisor.teams.audit_models import AuditEntry, AuditHead
from advisor.teams.ids import LENGTH, new_id
from advisor.teams.roles import Role

__all__ = [
    "ApiToken",
    "AuditEntry",
    "AuditHead",
    "Invitation",
    "LoginLink",
    "Membership",
    "Preferences",
    "SharedCacheEntry",
    "Team",
]


class Team(models.Model):
    """The owner of every object. Names are unique without regard to case: ``folded`` is what is compared."""

    id = models.CharField(primary_key=True, max_length=LENGTH, default=new_id, editable=False)
    name = models.CharField(max_length=100)
    folded = models.CharField(max_length=100, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.name


class Membership(models.Model):
    """One role of one person in one team; several rows where a person holds several roles."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=10, choices=[(role.value, role.value) for role in Role])

    class Meta:
        constraints = [models.UniqueConstraint(fields=["team", "user", "role"], name="one_row_per_role")]

    def __str__(self) -> str:
        return f"{self.user} is {self.role} of {self.team}"


class LoginLink(models.Model):
    """A link that signs one person in, once. Only a digest is kept."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="login_links")
    digest = models.CharField(max_length=64, unique=True)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"login link of {self.user}"


class Invitation(models.Model):
    """A link that lets one person into a team with these roles, once. Only a digest is kept."""

    id = models.CharField(primary_key=True, max_length=LENGTH, default=new_id, editable=False)
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="invitations")
    email = models.EmailField()
    #: Names of roles, separated by blanks.
    roles = models.CharField(max_length=100)
    digest = models.CharField(max_length=64, unique=True)
    invited_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="invitations_sent"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True, blank=True)
    accepted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="invitations_accepted"
    )

    def __str__(self) -> str:
        return f"invitation of {self.email} to {self.team}"


class ApiToken(models.Model):
    """A program's way in, with its person's rights. Shown once; only a digest and the first characters are kept.

    ``scopes`` are names of ``scopes.Scope``, separated by blanks; empty: all that the person may do.
    """

    id = models.CharField(primary_key=True, max_length=LENGTH, default=new_id, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=100, blank=True)
    prefix = models.CharField(max_length=8)
    digest = models.CharField(max_length=64, unique=True)
    scopes = models.CharField(max_length=100, blank=True, default="")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"{self.prefix}… of {self.user}"


class Preferences(models.Model):
    """What a person chose for the pages. ``theme`` is empty where the system's is followed."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, primary_key=True, related_name="preferences"
    )
    theme = models.CharField(max_length=5, blank=True, choices=[("", "system"), ("light", "light"), ("dark", "dark")])
    language = models.CharField(max_length=5, blank=True)
    time_zone = models.CharField(max_length=64, blank=True)

    def __str__(self) -> str:
        return f"preferences of {self.user}"


class SharedCacheEntry(models.Model):
    """One value of the shared cache, as JSON."""

    key = models.CharField(primary_key=True, max_length=250)
    value = models.TextField()
    expires_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return self.key
