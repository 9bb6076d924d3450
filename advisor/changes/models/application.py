"""A plan being carried out on servers, step by step, and who may do so now."""

from __future__ import annotations

from django.db import models

from advisor.changes.models.plan import Plan
from advisor.teams.ids import LENGTH, new_id
from collector.models import Server


class Application(models.Model):
    """One plan on one server in one direction, at most once: the unique constraint is what makes it so.

    ``position`` is the order of servers; the first one is the canary where the policy wants one. ``due_at`` is when it
    may begin. ``fingerprint`` is the server's identity as read at the start, ``guards`` what was measured before the
    first step and what would stop the rest. ``said`` is the exact truth at the end, as a stored message.
    """

    class Direction(models.TextChoices):
        APPLY = "apply"
        ROLL_BACK = "roll_back"

    class State(models.TextChoices):
        WAITING = "waiting"
        RUNNING = "running"
        APPLIED = "applied"
        AWAITING_RESTART = "awaiting_restart"
        UNDONE = "undone"
        FAILED = "failed"
        NEEDS_ATTENTION = "needs_attention"
        CANCELLED = "cancelled"

    id = models.CharField(primary_key=True, max_length=LENGTH, default=new_id, editable=False)
    request = models.ForeignKey("changes.ChangeRequest", on_delete=models.CASCADE, related_name="applications")
    plan = models.ForeignKey(Plan, on_delete=models.PROTECT, related_name="applications")
    server = models.ForeignKey(Server, on_delete=models.CASCADE, related_name="applications")
    direction = models.CharField(max_length=9, choices=Direction.choices)
    position = models.PositiveSmallIntegerField(default=1)
    state = models.CharField(max_length=16, choices=State.choices, default=State.WAITING)
    started_by_name = models.CharField(max_length=150, blank=True)
    due_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    fingerprint = models.JSONField(default=dict)
    guards = models.JSONField(default=dict)
    said = models.JSONField(default=dict)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["plan", "server", "direction"], name="a_plan_runs_once_per_server")
        ]
        indexes = [models.Index(fields=["state", "due_at"])]
        ordering = ["direction", "position", "id"]

    def __str__(self) -> str:
        return f"{self.direction} on {self.server_id}: {self.state}"


class Step(models.Model):
    """One statement, written down before it is sent. ``old`` and ``wanted`` as the server prints them, ``found`` what
    was read back. ``persisted_before`` is what SET PERSIST had kept (NULL: nothing was). ``undoes`` is the number of
    the applied step that a statement takes back: of the same application, or of the one that a roll back is of.
    """

    class State(models.TextChoices):
        WRITTEN = "written"
        DONE = "done"
        REFUSED = "refused"
        DIFFERENT = "different"
        UNDONE = "undone"
        LEFT = "left"

    application = models.ForeignKey(Application, on_delete=models.CASCADE, related_name="steps")
    number = models.PositiveSmallIntegerField()
    variable = models.CharField(max_length=64)
    statement = models.CharField(max_length=1000)
    old = models.TextField(blank=True)
    wanted = models.TextField(blank=True)
    found = models.TextField(blank=True)
    persisted_before = models.TextField(null=True, blank=True)  # noqa: DJ001 -- empty is a value, NULL is none
    undoes = models.PositiveSmallIntegerField(null=True, blank=True)
    state = models.CharField(max_length=9, choices=State.choices, default=State.WRITTEN)
    warnings = models.JSONField(default=list)
    written_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)
    window_milliseconds = models.FloatField(null=True, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["application", "number"], name="one_step_per_number")]
        ordering = ["number"]

    def __str__(self) -> str:
        return f"{self.number}. {self.statement}"


class ApplyLease(models.Model):
    """Who may send statements to a server now: one process, until an instant. One row per server ever changed."""

    server = models.OneToOneField(Server, on_delete=models.CASCADE, primary_key=True, related_name="apply_lease")
    holder = models.CharField(max_length=120, blank=True)
    application = models.ForeignKey(Application, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    until = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"{self.server_id} held by {self.holder or 'nobody'}"
