"""Ratios of two things measured in alternating blocks of one run: the machine's mood falls out of the quotient."""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

#: CPUCLOCK_SCHED of Linux: with it a process id becomes the id of that process's CPU clock, which has nanoseconds where
#: /proc/<pid>/stat has hundredths of a second.
_CPUCLOCK_SCHED = 2


def cpu_seconds(pid: int) -> float:
    """CPU time that a whole process has used so far, in seconds. Raises OSError where there is no such process."""
    return time.clock_gettime((~pid << 3) | _CPUCLOCK_SCHED)


@dataclass(frozen=True)
class Ratio:
    """Ours over theirs: median of the block ratios and the bootstrap 95 % interval of it; ``None`` target: no goal."""

    name: str
    peer: str
    ours: str
    theirs: str
    median: float
    low: float
    high: float
    target: float | None

    @property
    def met(self) -> bool | None:
        """Whether the upper bound meets the target."""
        return None if self.target is None else self.high <= self.target


def interval(values: Sequence[float], *, rounds: int = 2000, seed: int = 1) -> tuple[float, float]:
    """Bootstrap 95 % interval of the median."""
    chance = random.Random(seed)
    medians = sorted(statistics.median(chance.choices(values, k=len(values))) for _ in range(rounds))
    return medians[int(0.025 * rounds)], medians[int(0.975 * rounds) - 1]


def compare(
    name: str,
    peer: str,
    ours: Callable[[], float],
    theirs: Callable[[], float],
    *,
    unit: str,
    scale: float = 1.0,
    blocks: int = 12,
    target: float | None = None,
) -> Ratio:
    """Measures both alternately, ``blocks`` times each; a call measures one block and returns its figure."""
    pairs = [(ours(), theirs()) if block % 2 == 0 else tuple(reversed((theirs(), ours()))) for block in range(blocks)]
    ratios = [mine / other for mine, other in pairs]
    low, high = interval(ratios)
    return Ratio(
        name=name,
        peer=peer,
        ours=f"{statistics.median(mine for mine, _ in pairs) * scale:.3g} {unit}",
        theirs=f"{statistics.median(other for _, other in pairs) * scale:.3g} {unit}",
        median=statistics.median(ratios),
        low=low,
        high=high,
        target=target,
    )
