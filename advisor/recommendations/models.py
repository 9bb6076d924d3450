"""Advice that lasts."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from advisor.recommendations.assignment_models import Assignment, Comment
from advisor.teams.ids import LENGTH, new_id
from advisor.teams.models import Team
from collector.models import Server

__all__ = ["Assignment", "Comment", "FleetGroup", "FleetRow", "Judgement", "Recommendation", "RuleSetting", "State"]

#: How much text of a server searching looks through. Longer, it would not fit into an index of MySQL.
WORDS_LENGTH = 600
#: Stands for a headroom without an end, in seconds: longer than any that is told.
NO_END = 1e15


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
        indexes = [
            models.Index(fields=["server", "state"]),
            # Dismissals of all servers that end in the next days.
            models.Index(fields=["state", "dismissed_until"], name="dismissals_by_end"),
        ]
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

    ``condition`` is what is measured: new, calm, watch, warning, critical or stale; ``state`` is the one word that
    every page shows, the worse of the condition and of what is recommended (see ``advisor.recommendations.fleet``).
    ``sort_rank`` orders states by need, highest first. ``trouble_seconds`` is how long of the last 24 hours the
    condition was warning or critical, told by ``hours``: at most 25 entries ``[hour_at, warning seconds, critical
    seconds, highest pressure]`` in unix seconds, the oldest first; ``hours_filled_at`` is the hour up to which hours
    that nobody watched were taken from the history. ``headroom_order`` is the headroom with a huge number where there
    is no end in sight, since databases do not agree on where NULL is sorted. ``words`` is what searching looks
    through, folded, and ``group``, ``folded`` and ``flavor`` are copies, so that no list needs a join.
    ``sparkline`` holds at most 48 transactions-per-second values, oldest first, null for a gap; ``sparkline_at`` is
    when it was read from the history last. ``worst_words`` is the stored message behind ``worst_title``.
    """

    server = models.OneToOneField(Server, on_delete=models.CASCADE, primary_key=True, related_name="fleet_row")
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="fleet_rows")
    state = models.CharField(max_length=8, default="new")
    state_since = models.DateTimeField(null=True, blank=True)
    condition = models.CharField(max_length=8, default="new")
    condition_since = models.DateTimeField(null=True, blank=True)
    sort_rank = models.IntegerField(default=0)
    trouble_seconds = models.PositiveIntegerField(default=0)
    folded = models.CharField(max_length=100, blank=True)
    group = models.CharField(max_length=50, blank=True)
    flavor = models.CharField(max_length=8, blank=True)
    words = models.CharField(max_length=WORDS_LENGTH, blank=True)
    version = models.CharField(max_length=80, blank=True)
    role = models.CharField(max_length=12, blank=True)
    pressure = models.FloatField(null=True, blank=True)
    async_ratio = models.FloatField(null=True, blank=True)
    headroom_seconds = models.FloatField(null=True, blank=True)
    headroom_order = models.FloatField(default=NO_END)
    transactions_per_second = models.FloatField(null=True, blank=True)
    dirty_percent = models.FloatField(null=True, blank=True)
    redo_bytes_per_second = models.FloatField(null=True, blank=True)
    sparkline = models.JSONField(default=list)
    sparkline_at = models.DateTimeField(null=True, blank=True)
    hours = models.JSONField(default=list)
    hours_filled_at = models.BigIntegerField(default=0)
    headline = models.JSONField(default=dict)
    open_recommendations = models.PositiveIntegerField(default=0)
    worst_severity = models.CharField(max_length=8, blank=True)
    worst_title = models.CharField(max_length=300, blank=True)
    worst_words = models.JSONField(default=dict)
    worst_since = models.DateTimeField(null=True, blank=True)
    worst_id = models.CharField(max_length=16, blank=True)
    newest_sample_at = models.DateTimeField(null=True, blank=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        # One index for each order of the fleet page. What filters look at ends each of them, so that a filter that
        # leaves few servers is answered by reading an index, never by fetching rows that are then thrown away.
        indexes = [
            models.Index(
                fields=["team", "-sort_rank", "-trouble_seconds", "folded", "server", "state", "flavor", "group"],
                name="fleet_trouble",
            ),
            models.Index(
                fields=["team", "-sort_rank", "-state_since", "server", "state", "flavor", "group"], name="fleet_state"
            ),
            models.Index(fields=["team", "-pressure", "server", "state", "flavor", "group"], name="fleet_pressure"),
            models.Index(
                fields=["team", "headroom_order", "server", "state", "flavor", "group"], name="fleet_headroom"
            ),
            models.Index(
                fields=["team", "-transactions_per_second", "server", "state", "flavor", "group"],
                name="fleet_transactions",
            ),
            models.Index(fields=["team", "-dirty_percent", "server", "state", "flavor", "group"], name="fleet_dirty"),
            models.Index(fields=["team", "folded", "server", "state", "flavor", "group"], name="fleet_name"),
            # What is looked for may stand anywhere in the words: they are read, not sought, so they end the index.
            models.Index(fields=["team", "state", "flavor", "group", "words", "server"], name="fleet_texts"),
            models.Index(fields=["team", "state", "flavor", "group", "server"], name="fleet_counts"),
        ]

    def __str__(self) -> str:
        return f"{self.server_id}: {self.state}"


class FleetGroup(models.Model):
    """What servers of a team have in common, counted: ``kind`` is "group" or "tag".

    Menus and the strip of the last day are drawn from these, so that their cost does not grow with the servers.
    ``needing`` counts the servers in state warning or critical. ``hours`` holds, of groups only, the worst of 24 hours
    up to the one that began at ``hour_at`` (unix seconds), the oldest first: ``[highest pressure, seconds of the worst
    server in warning, the same in critical, servers with either]``, null where nothing is known. ``rank`` orders
    groups by need, highest first.
    """

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="fleet_groups")
    kind = models.CharField(max_length=5)
    name = models.CharField(max_length=50, blank=True)
    servers = models.PositiveIntegerField(default=0)
    needing = models.PositiveIntegerField(default=0)
    rank = models.BigIntegerField(default=0)
    hour_at = models.BigIntegerField(default=0)
    hours = models.JSONField(default=list)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["team", "kind", "name"], name="one_fleet_group_per_name")]
        indexes = [models.Index(fields=["team", "kind", "-rank", "name"], name="fleet_groups_by_need")]

    def __str__(self) -> str:
        return f"{self.kind} {self.name}: {self.servers}"


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
