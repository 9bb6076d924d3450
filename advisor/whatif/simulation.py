"""Replays recorded writes against a redo log of some size: the age from step to step.

Each step solves age' = age + seconds * (written - advance(age')) for the age at its end. Taking the advance at the
*end* of the step keeps steps of ten minutes stable where a log fills in seconds; the advance never falls with the age,
so that there is exactly one solution, looked up in a table that is made once for a size and a step's length.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from advisor.whatif.flushing import Coalescing, FlushSettings, Points

#: What MariaDB lets the age go beyond the async point, in seconds of writes: its cleaner works once a second. Seen on
#: 10.11: 1.5 s at 0.5 MB/s of redo, 0.7 s at 5 MB/s.
BURST_SECONDS = 1.2
#: How finely the table knows the law between an empty and a full log.
_NODES = 160
#: A step so long that nothing but the balance is left of where it began.
_FOR_EVER_SECONDS = 1e9


@dataclass(frozen=True)
class Step:
    """One step of the recorded writes: how long, bytes per second written in it, and at its end the age as a share of
    the limit (None: not known).

    ``begins`` is the share to start from where nothing is known of the time before (the window's begin, a gap).
    """

    seconds: float
    written: float
    share: float | None = None
    begins: float | None = None


@dataclass(frozen=True)
class Hypothesis:
    """What one simulation takes for true of the server: its settings, how pages coalesce, how fast it really is
    (``speed``: the calibrated multiple of what the heuristics ask for), and the most its device was seen to do.
    """

    settings: FlushSettings
    coalescing: Coalescing
    speed: float
    device_bytes_per_second: float


class _Law:
    """The heuristics of one log size as a table, for steps of one length."""

    def __init__(self, hypothesis: Hypothesis, points: Points, seconds: float) -> None:
        settings, coalescing = hypothesis.settings, hypothesis.coalescing
        self.ages = [points.limit_bytes * 1.25 * node / _NODES for node in range(_NODES + 1)]
        self.reached: list[float] = []
        highest = 0.0
        for age in self.ages:
            pages = settings.io_capacity * settings.pressure(age, coalescing.dirty_pages(age), points)
            # A law that fell somewhere would have two solutions; none of the servers' does beyond rounding.
            highest = max(highest, hypothesis.speed * coalescing.at(age) * pages)
            self.reached.append(age + seconds * highest * settings.heuristics_part)

    def after(self, place: float) -> float:
        """The age whose ``reached`` is ``place``."""
        at = bisect_right(self.reached, place)
        if at == 0:
            return 0.0
        if at >= len(self.reached):
            return self.ages[-1]
        low, high = self.reached[at - 1], self.reached[at]
        return self.ages[at - 1] + (self.ages[at] - self.ages[at - 1]) * (place - low) / ((high - low) or 1.0)


def simulate(steps: Sequence[Step], hypothesis: Hypothesis, points: Points, *, settled: bool = False) -> list[float]:
    """The age at the end of each step as a share of ``points.limit_bytes``; 1 is where writers wait.

    At the start, and after a gap, the age is the recorded share; ``settled``: the age at which this log balances the
    mean of these writes, as if the server had run with this size for long. A bigger log would else look half empty
    for as long as it fills, and one that is far bigger would keep the share of the small one for days.
    """
    laws: dict[float, _Law] = {}
    settings, coalescing = hypothesis.settings, hypothesis.coalescing
    shares: list[float] = []
    age, limit = 0.0, float(points.limit_bytes)
    balance = _balance(steps, hypothesis, points) if settled else None
    for step in steps:
        if step.begins is not None:
            age = step.begins * limit if balance is None else balance
        seconds, written = step.seconds, step.written
        law = laws.get(seconds)
        if law is None:
            law = laws[seconds] = _Law(hypothesis, points, seconds)
        # No heuristic asks for more than innodb_io_capacity_max; beyond it only the device is the limit.
        bounded = age + seconds * (written - coalescing.at(age) * settings.io_capacity_max)
        after = max(law.after(age + seconds * written * (1 - settings.follows_writes)), bounded)
        if settings.bursts_at_async:
            # From the async point on MariaDB flushes all it may, once a second: the age hovers above that point.
            after = min(after, max(points.async_bytes + BURST_SECONDS * written, bounded))
        if after > points.sync_bytes:
            after = max(points.sync_bytes, min(after, age + seconds * (written - hypothesis.device_bytes_per_second)))
        age = min(max(after, 0.0), limit)
        shares.append(age / limit)
    return shares


def _balance(steps: Sequence[Step], hypothesis: Hypothesis, points: Points) -> float:
    """The age at which the checkpoint advances as fast as these writes do on average; at most the async point, beyond
    which what moves the checkpoint is not the heuristics.
    """
    seconds = sum(step.seconds for step in steps)
    written = sum(step.written * step.seconds for step in steps) / seconds if seconds else 0.0
    law = _Law(hypothesis, points, _FOR_EVER_SECONDS)
    return min(law.after(_FOR_EVER_SECONDS * written * (1 - hypothesis.settings.follows_writes)), points.async_bytes)
