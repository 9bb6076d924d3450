"""The embedded sample history: raw polls of the open hour, sealed blocks, digests and gaps."""

from __future__ import annotations

from django.db import models

from collector.models.server import Server


class OpenSample(models.Model):
    """One poll that is not yet part of a sealed block. The unique slot makes writing it twice harmless."""

    server = models.ForeignKey(Server, on_delete=models.CASCADE, related_name="open_samples")
    slot = models.BigIntegerField()
    payload = models.BinaryField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["server", "slot"], name="one_sample_per_slot")]
        # Sealing looks for the oldest rows of all servers.
        indexes = [models.Index(fields=["slot"])]


class SealedBlock(models.Model):
    """All polls of one server in one hour as compressed columns; written once, never rewritten."""

    server = models.ForeignKey(Server, on_delete=models.CASCADE, related_name="blocks")
    hour_at = models.BigIntegerField()
    count = models.PositiveIntegerField()
    payload = models.BinaryField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["server", "hour_at"], name="one_block_per_hour")]
        indexes = [models.Index(fields=["hour_at"])]


class Rollup(models.Model):
    """The sealed hours of one server's day as cells: what charts of long times are made of.

    ``fine`` has cells of five minutes and is emptied after some days, when only long times are looked at; ``coarse``
    has cells of twenty minutes and stays for as long as the samples do.
    """

    server = models.ForeignKey(Server, on_delete=models.CASCADE, related_name="rollups")
    day_at = models.BigIntegerField()
    # The small one first: SQLite walks through a row's bytes to reach what stands behind them.
    coarse = models.BinaryField()
    fine = models.BinaryField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["server", "day_at"], name="one_rollup_per_day")]
        indexes = [models.Index(fields=["day_at"], name="rollups_by_day")]


class OpenCounters(models.Model):
    """All numbers of one full snapshot, not yet part of a block: a packed poll, compressed with zstandard."""

    server = models.ForeignKey(Server, on_delete=models.CASCADE, related_name="open_counters")
    slot = models.BigIntegerField()
    payload = models.BinaryField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["server", "slot"], name="one_counters_per_slot")]
        indexes = [models.Index(fields=["slot"], name="open_counters_slot")]


class CounterBlock(models.Model):
    """All numbers of one server's full snapshots of an hour or a day (``seconds``), as compressed columns.

    Hours are sealed as they end; when their day is over, they become one block, which says the same in fewer bytes and
    is read at once.
    """

    server = models.ForeignKey(Server, on_delete=models.CASCADE, related_name="counter_blocks")
    begins_at = models.BigIntegerField()
    seconds = models.PositiveIntegerField()
    count = models.PositiveIntegerField()
    payload = models.BinaryField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["server", "begins_at", "seconds"], name="one_counter_block_per_time")
        ]
        indexes = [models.Index(fields=["seconds", "begins_at"], name="counter_blocks_by_time")]


class Digest(models.Model):
    """One hour condensed (``advisor.mysql.digest.HourlyDigest`` as JSON): long windows are judged from these."""

    server = models.ForeignKey(Server, on_delete=models.CASCADE, related_name="digests")
    hour_at = models.BigIntegerField()
    data = models.JSONField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["server", "hour_at"], name="one_digest_per_hour")]


class DayTimes(models.Model):
    """How long the pressure was where in one day's sealed hours together; ``data`` names the hours that are in it."""

    server = models.ForeignKey(Server, on_delete=models.CASCADE, related_name="day_times")
    day_at = models.BigIntegerField()
    data = models.JSONField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["server", "day_at"], name="one_times_per_day")]


class Gap(models.Model):
    """A time without samples, and why. Unix seconds; an open gap has no end."""

    server = models.ForeignKey(Server, on_delete=models.CASCADE, related_name="gaps")
    started_at = models.FloatField()
    ended_at = models.FloatField(null=True, blank=True)
    why = models.CharField(max_length=200)

    class Meta:
        indexes = [models.Index(fields=["server", "started_at"]), models.Index(fields=["ended_at"])]
