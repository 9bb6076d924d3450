"""What a team demands of changes to its servers."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from advisor.teams.models import Team


class Policy(models.Model):
    """The demands on servers with one tag; ``tag`` is empty for all servers of the team. Where several apply to a
    server, the strictest of each demand counts (``policies.effective``).

    ``windows`` is a list of {"days": [0-6, Monday is 0], "from": "09:00", "to": "11:00", "zone": "Asia/Seoul"}; empty:
    any time. ``allowed_variables`` are names, empty: all of class tune and confirm. ``who_may_apply`` lists roles.
    """

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="change_policies")
    tag = models.CharField(max_length=50, blank=True)
    approvals = models.PositiveSmallIntegerField(default=1)
    author_may_approve = models.BooleanField(default=False)
    windows = models.JSONField(default=list)
    allowed_variables = models.JSONField(default=list)
    canary_first = models.BooleanField(default=False)
    wait_seconds = models.PositiveIntegerField(default=1800)
    who_may_apply = models.JSONField(default=list)
    emergency_allowed = models.BooleanField(default=False)
    emergency_seconds = models.PositiveIntegerField(default=14_400)
    roll_back_automatically = models.BooleanField(default=False)
    changed_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    changed_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["team", "tag"], name="one_policy_per_tag")]
        ordering = ["tag"]

    def __str__(self) -> str:
        return f"policy for {self.tag or 'all servers'}"
