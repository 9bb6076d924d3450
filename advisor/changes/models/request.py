"""A change request and what it wants."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from advisor.recommendations.models import Recommendation
from advisor.teams.ids import LENGTH, new_id
from advisor.teams.models import Team
from collector.models import Server


class State(models.TextChoices):
    """Where a change request stands. ``states.TRANSITIONS`` says what may follow what."""

    DRAFT = "draft"
    IN_REVIEW = "in_review"
    CHANGES_REQUESTED = "changes_requested"
    APPROVED = "approved"
    STALE = "stale"
    SCHEDULED = "scheduled"
    APPLYING = "applying"
    AWAITING_RESTART = "awaiting_restart"
    VERIFYING = "verifying"
    KEPT = "kept"
    ROLLED_BACK = "rolled_back"
    FAILED = "failed"
    NEEDS_ATTENTION = "needs_attention"
    WITHDRAWN = "withdrawn"


class ChangeRequest(models.Model):
    """What somebody wants to change on one or several servers of one team.

    ``version`` grows with every write, and each write names the version it saw, so that of two at once one is told that
    it came late. ``plan`` is the present plan; older ones stay. ``author_name`` outlives the account. ``scheduled_at``
    is when an approved one is to be applied by itself, in the name of ``scheduled_by``. An ``emergency`` one is applied
    first and reviewed after, and expires by itself at ``expires_at``. ``rolls_back`` names the request that this one
    takes back. ``why`` is the latest reason for the present state where there is one to tell (why stale, why failed),
    as a stored message.
    """

    id = models.CharField(primary_key=True, max_length=LENGTH, default=new_id, editable=False)
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="change_requests")
    number = models.PositiveIntegerField()
    title = models.CharField(max_length=200)
    reason = models.TextField(blank=True)
    expected_effect = models.TextField(blank=True)
    price = models.TextField(blank=True)
    test_plan = models.TextField(blank=True)
    state = models.CharField(max_length=18, choices=State.choices, default=State.DRAFT)
    why = models.JSONField(default=dict)
    version = models.PositiveIntegerField(default=1)
    plan = models.ForeignKey("changes.Plan", on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="change_requests"
    )
    author_name = models.CharField(max_length=150)
    last_editor = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    first_server = models.ForeignKey(Server, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    wait_seconds = models.PositiveIntegerField(default=0)
    scheduled_at = models.DateTimeField(null=True, blank=True)
    scheduled_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    emergency = models.BooleanField(default=False)
    expires_at = models.DateTimeField(null=True, blank=True)
    rolls_back = models.ForeignKey(
        "self", on_delete=models.SET_NULL, null=True, blank=True, related_name="taken_back_by"
    )
    created_at = models.DateTimeField()
    changed_at = models.DateTimeField()
    submitted_at = models.DateTimeField(null=True, blank=True)
    applied_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["team", "number"], name="change_number_unique_in_team")]
        indexes = [models.Index(fields=["team", "state"]), models.Index(fields=["state", "scheduled_at"])]
        ordering = ["-created_at", "-id"]

    def __str__(self) -> str:
        return f"change {self.number}: {self.title}"


class WantedChange(models.Model):
    """One variable of one server and the value it is wanted to have, as typed; the plan holds what it means there."""

    request = models.ForeignKey(ChangeRequest, on_delete=models.CASCADE, related_name="wanted")
    server = models.ForeignKey(Server, on_delete=models.CASCADE, related_name="+")
    variable = models.CharField(max_length=64)
    value = models.CharField(max_length=500)
    recommendation = models.ForeignKey(
        Recommendation, on_delete=models.SET_NULL, null=True, blank=True, related_name="wanted_changes"
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["request", "server", "variable"], name="one_value_per_variable_and_server")
        ]
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.variable} = {self.value}"
