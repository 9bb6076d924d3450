"""Advice that lasts."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from advisor.teams.ids import LENGTH, new_id
from advisor.teams.models import Team
from collector.models import Server


class State(models.TextChoices):
    """``in_change`` and ``applied`` are set by the changes room through this room's services."""

    OPEN = "open"
    ACKNOWLEDGED = "acknowledged"
    IN_CHANGE = "in_change"
    APPLIED = "applied"
    RESOLVED = "resolved"
    DISMISSED = "dismissed"


class Recommendation(models.Model):
    """A finding that lasts. Its identity over time is (server, key).

    ``current`` equals ``key`` until the recommendation is resolved and is then NULL: a plain unique constraint that
    also MySQL enforces, so that there is one living recommendation per key. ``document`` is the item of the advice
    schema as last judged. ``passes`` counts consecutive judgements in which the rule passed, so that one lucky minute
    resolves nothing, and ``passing_since`` is the first of them. ``keys`` are the keys of all findings joined into it,
    so that it is recognised when another of them leads. ``dismissed_figures`` are the figures of the evidence
    when somebody decided to live with it, ``dismissed_rank`` its severity then (NULL: dismissed before that was
    kept): it comes back when they get markedly worse.
    """

    id = models.CharField(primary_key=True, max_length=LENGTH, default=new_id, editable=False)
    server = models.ForeignKey(Server, on_delete=models.CASCADE, related_name="recommendations")
    key = models.CharField(max_length=200)
    current = models.CharField(max_length=200, null=True)  # noqa: DJ001 -- NULL is what frees the key
    rule = models.CharField(max_length=100)
    state = models.CharField(max_length=12, choices=State.choices, default=State.OPEN)
    severity = models.CharField(max_length=8)
    severity_rank = models.PositiveSmallIntegerField(default=0)
    confidence = models.CharField(max_length=6)
    keys = models.JSONField(default=list)
    document = models.JSONField()
    opened_at = models.DateTimeField()
    last_seen_at = models.DateTimeField()
    resolved_at = models.DateTimeField(null=True, blank=True)
    passes = models.PositiveSmallIntegerField(default=0)
    passing_since = models.DateTimeField(null=True, blank=True)
    dismissed_reason = models.TextField(blank=True)
    dismissed_until = models.DateField(null=True, blank=True)
    dismissed_figures = models.JSONField(default=dict)
    dismissed_rank = models.PositiveSmallIntegerField(null=True, blank=True)
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True)
    decided_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["server", "current"], name="one_living_recommendation_per_key")]
        indexes = [models.Index(fields=["server", "state"])]
        ordering = ["-severity_rank", "opened_at", "id"]

    def __str__(self) -> str:
        return f"{self.key} ({self.state})"


class Judgement(models.Model):
    """The newest judgement of a server: what every rule said. ``outcomes`` is the advice schema's list.

    ``configuration`` is a digest of the variables that judging depends on, and ``configured_at`` (unix seconds) when
    it was first seen: what was observed before belongs to other values. ``settings`` and ``changed_at`` are the same
    with the redo capacity, whose history is a series and ends no window.
    """

    server = models.OneToOneField(Server, on_delete=models.CASCADE, primary_key=True, related_name="judgement")
    slot = models.BigIntegerField()
    judged_at = models.DateTimeField()
    outcomes = models.JSONField()
    milliseconds = models.FloatField(default=0)
    configuration = models.CharField(max_length=64, blank=True)
    configured_at = models.FloatField(default=0)
    settings = models.CharField(max_length=64, blank=True)
    changed_at = models.FloatField(default=0)

    def __str__(self) -> str:
        return f"judgement of {self.server_id} at {self.slot}"


class FleetRow(models.Model):
    """One denormalised row per server: all that the fleet page shows, so that the page is one indexed query.

    ``state`` is new, calm, watch, warning, critical or stale; ``sort_rank`` orders by need, highest first.
    ``sparkline`` holds at most 48 transactions-per-second values, oldest first, null for a gap; ``sparkline_at`` is
    when it was read from the history last.
    """

    server = models.OneToOneField(Server, on_delete=models.CASCADE, primary_key=True, related_name="fleet_row")
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="fleet_rows")
    state = models.CharField(max_length=8, default="new")
    state_since = models.DateTimeField(null=True, blank=True)
    sort_rank = models.IntegerField(default=0)
    version = models.CharField(max_length=80, blank=True)
    role = models.CharField(max_length=12, blank=True)
    pressure = models.FloatField(null=True, blank=True)
    async_ratio = models.FloatField(null=True, blank=True)
    headroom_seconds = models.FloatField(null=True, blank=True)
    transactions_per_second = models.FloatField(null=True, blank=True)
    dirty_percent = models.FloatField(null=True, blank=True)
    redo_bytes_per_second = models.FloatField(null=True, blank=True)
    sparkline = models.JSONField(default=list)
    sparkline_at = models.DateTimeField(null=True, blank=True)
    headline = models.JSONField(default=dict)
    open_recommendations = models.PositiveIntegerField(default=0)
    worst_severity = models.CharField(max_length=8, blank=True)
    worst_title = models.CharField(max_length=300, blank=True)
    worst_id = models.CharField(max_length=16, blank=True)
    newest_sample_at = models.DateTimeField(null=True, blank=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        indexes = [models.Index(fields=["team", "-sort_rank", "server"])]

    def __str__(self) -> str:
        return f"{self.server_id}: {self.state}"


class RuleSetting(models.Model):
    """What a team made of one rule: switched off, or judged by other thresholds, and why.

    ``tag`` is "" for all servers of the team; a tag's setting wins over it on servers that have the tag. ``thresholds``
    maps names to numbers in the units that the rule declares.
    """

    id = models.CharField(primary_key=True, max_length=LENGTH, default=new_id, editable=False)
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="rule_settings")
    rule = models.CharField(max_length=100)
    tag = models.CharField(max_length=60, blank=True)
    off = models.BooleanField(default=False)
    thresholds = models.JSONField(default=dict)
    reason = models.TextField()
    changed_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True)
    changed_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["team", "rule", "tag"], name="one_setting_per_rule_and_tag")]
        ordering = ["rule", "tag"]

    def __str__(self) -> str:
        return f"{self.rule} for {self.tag or 'all servers'}"
