"""What the recorded window says of this server's flushing, and how well the model would have told the recorded age.

Measured, not fitted: the bytes of redo that a written page releases (checkpoint advance over pages written, in the
loaded steps), the most pages ever dirty, the greatest checkpoint advance held for a minute. Fitted, one number: the
``speed``, a multiple of what the heuristics ask for (neighbours flushed along, a device that is slower than
innodb_io_capacity claims).

Bracketed: how many pages change again and again (``flushing.Coalescing``). From as many as were ever dirty to as many
as the record leaves possible, each number is back-tested; those that the record contradicts are dropped, and the band
lies between the extremes of the rest. Likewise the speed, where several explain the record equally well: an age that
stands at the limit is explained by every speed that is too slow.

Back-test: the speed is fitted on the first half of the loaded steps and the second half is simulated freely from its
first age on, with writes alone as input. Its error is reported, widens every band, and makes the model refuse where
it is too big.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from advisor.engine.evidence import LOADED_BYTES_PER_SECOND
from advisor.engine.statistics import weighted_percentile
from advisor.engine.units import MINUTE
from advisor.whatif.flushing import Coalescing, FlushSettings, Points
from advisor.whatif.history import Recorded
from advisor.whatif.simulation import Hypothesis, Step, simulate

#: Speeds that are tried: none (a cleaner that sleeps), and from a fifth to four times what the heuristics ask for.
_SPEEDS = (0.0, *(math.pow(2.0, power / 3) for power in range(-7, 7)))
#: Steps that the fit looks at: more would not tell it better and cost the page a second.
_FITTED_STEPS = 1200
#: Speeds whose cost is within this share of the limit explain the record equally well. Where the age stood at the
#: limit for most of the time, every speed that cannot hold it there does: the age says no more than "too slow".
_INDISTINCT = 0.01
#: Pages do not all change alike, so that the line is a simplification: twice as many may be changing as it says.
_SLACK = 2.0
#: A hypothesis whose back-test is worse than the best one's by this share of the limit is contradicted.
_CONTRADICTED = 0.05
#: How finely shares of the limit are counted for percentiles.
_CELL = 0.002


@dataclass(frozen=True)
class BackTest:
    """How far the free simulation of the second half was from what was recorded.

    ``mape`` is the mean distance of the ages as a share of the mean recorded age, ``p95_simulated`` and
    ``p95_recorded`` are shares of the limit; ``seconds`` is how long the half was.
    """

    mape: float
    p95_simulated: float
    p95_recorded: float
    seconds: float

    @property
    def p95_error(self) -> float:
        """The distance of the two percentiles, as a share of the limit."""
        return abs(self.p95_simulated - self.p95_recorded)


@dataclass(frozen=True)
class Calibrated:
    """The hypotheses that bracket the truth, all fitted, and the worse of their back-tests.

    Of the most and of the fewest changing pages there is one hypothesis each, or two where the record does not tell
    speeds apart: the slowest and the fastest that explain it.

    ``changing_pages`` are the fewest and the most pages that may be changing again and again; infinite where the record
    allows that none changes twice.
    """

    hypotheses: tuple[Hypothesis, ...]
    back_test: BackTest
    bytes_per_page: float
    changing_pages: tuple[float, float]
    device_bytes_per_second: float

    @property
    def tells_speed(self) -> bool:
        """Whether the record tells how fast this server flushes, to a factor of two; else the back-test proves little:
        any speed would have passed it.
        """
        speeds: dict[float, list[float]] = {}
        for one in self.hypotheses:
            speeds.setdefault(one.coalescing.pages, []).append(one.speed)
        return all(max(alike) <= 2 * min(alike) for alike in speeds.values())


class Uncalibrated(ValueError):
    """The recorded window does not tell how this server flushes; the message says what is missing."""


def calibrate(recorded: Recorded, settings: FlushSettings, points: Points) -> Calibrated:
    """Fits the model to polls of the present capacity. Raises Uncalibrated."""
    written = np.array([step.written for step in recorded.steps])
    advanced, pages = np.array(recorded.advanced), np.array(recorded.pages)
    loaded = written >= LOADED_BYTES_PER_SECOND
    dirty = np.array(recorded.dirty)
    most_dirty = float(np.nanmax(dirty)) if np.isfinite(dirty).any() else 0.0
    shares = np.array([step.share if step.share is not None else np.nan for step in recorded.steps])
    usual = shares[loaded & np.isfinite(shares)]
    if not usual.size:
        raise Uncalibrated("the checkpoint age was not read while the server was loaded")
    reference = float(usual.mean()) * points.limit_bytes
    flushed, released = float(np.nansum(pages[loaded])), float(np.nansum(advanced[loaded]))
    if flushed > 0 and released > 0:
        bytes_per_page = released / flushed
    elif most_dirty > 0 and reference > 0:
        # A MariaDB below its async point may write no page for hours: then what is dirty tells how it will be.
        bytes_per_page = reference / most_dirty
    else:
        raise Uncalibrated("no page was written and none was dirty while the server was loaded")
    device = max(_sustained(recorded, advanced), bytes_per_page * settings.io_capacity_max)
    halves = _halves(recorded.steps)
    most_pages = _most_pages(recorded, loaded, settings, points)
    tried = []
    for changing in _between(max(most_dirty, 1.0), most_pages):
        rough = Hypothesis(settings, Coalescing(bytes_per_page, reference, changing), 1.0, device)
        tried.append((rough, _test(halves[1], replace(rough, speed=_fit(halves[0], rough, points).best), points)))
    # What the record contradicts is no longer thought possible; the band lies between what is left.
    allowed = min(test.p95_error for _rough, test in tried) + _CONTRADICTED
    left = [(rough, test) for rough, test in tried if test.p95_error <= allowed]
    ends = (left[-1], left[0])
    hypotheses = tuple(
        replace(rough, speed=speed)
        for rough, _test_of in ends
        for speed in dict.fromkeys(_fit(recorded.steps, rough, points).ends)
    )
    return Calibrated(
        hypotheses=hypotheses,
        back_test=max((test for _rough, test in ends), key=lambda one: (one.p95_error, one.mape)),
        bytes_per_page=bytes_per_page,
        changing_pages=(ends[1][0].coalescing.pages, ends[0][0].coalescing.pages),
        device_bytes_per_second=device,
    )


def _between(fewest: float, most: float) -> list[float]:
    """Numbers of changing pages to try, from the fewest to the most that are possible."""
    steps = [fewest * factor for factor in (1.0, 1.5, 2.5, 5.0) if fewest * factor < most]
    return [*(steps or [fewest]), max(most, fewest)]


def _most_pages(recorded: Recorded, loaded: npt.NDArray[np.bool_], settings: FlushSettings, points: Points) -> float:
    """At most how many pages change again and again, by how the dirty pages followed the age; infinite where that
    cannot be told.

    age / dirty = b + age / N is a line over the age. Means of ten minutes are taken, since a checkpoint that is late
    moves the age alone and would look like pages that change again; nothing is concluded where that lateness is a
    twentieth of the log, or the age hardly moved. The slope counts three standard errors less than it is.
    """
    width = max(1, round(10 * MINUTE / recorded.steps[0].seconds))
    written = np.array([step.written for step in recorded.steps])
    shares = np.array([step.share if step.share is not None else np.nan for step in recorded.steps])
    dirty = np.array(recorded.dirty)
    usable = loaded & np.isfinite(shares) & np.isfinite(dirty) & (dirty > 0)
    groups = np.arange(usable.size) // width
    ages, per_page = [], []
    for group in np.unique(groups[usable]):
        inside = usable & (groups == group)
        if inside.sum() * 2 >= width:
            ages.append(float(shares[inside].mean()) * points.limit_bytes)
            per_page.append(ages[-1] / float(dirty[inside].mean()))
    x, y = np.array(ages), np.array(per_page)
    late = settings.checkpoint_seconds * float(written[usable].mean()) if usable.any() else math.inf
    if x.size < 6 or late > 0.05 * points.limit_bytes or np.ptp(x) < 0.25 * float(x.mean()):
        return math.inf
    away = x - x.mean()
    slope = float((away * (y - y.mean())).sum() / (away**2).sum())
    left = y - y.mean() - slope * away
    error = math.sqrt(float((left**2).sum()) / (x.size - 2) / float((away**2).sum()))
    surely = slope - 3 * error
    return _SLACK / surely if surely > 0 else math.inf


def _sustained(recorded: Recorded, advanced: npt.NDArray[np.float64]) -> float:
    """The greatest mean advance over a minute (or over a step, where steps are longer)."""
    width = max(1, round(MINUTE / recorded.steps[0].seconds))
    if advanced.size < width:
        return float(advanced.max(initial=0.0))
    return float(np.convolve(advanced, np.ones(width) / width, "valid").max())


def _halves(steps: Sequence[Step]) -> tuple[Sequence[Step], Sequence[Step]]:
    """Cut where half of the loaded time is over, so that the load is in both."""
    loaded = [step.seconds if step.written >= LOADED_BYTES_PER_SECOND else 0.0 for step in steps]
    half, reached, cut = sum(loaded) / 2, 0.0, len(steps) // 2
    for index, seconds in enumerate(loaded):
        reached += seconds
        if reached >= half:
            cut = index + 1
            break
    cut = min(max(cut, 1), len(steps) - 1)
    first, second = list(steps[:cut]), list(steps[cut:])
    start = first[-1].share
    second[0] = replace(second[0], begins=second[0].begins if start is None else start)
    return first, second


@dataclass(frozen=True)
class _Fit:
    """The speed that explains the record best, and the slowest and the fastest that explain it as well."""

    best: float
    ends: tuple[float, float]


def _fit(steps: Sequence[Step], rough: Hypothesis, points: Points) -> _Fit:
    """Speeds whose simulated ages are nearest to the recorded ones, and whose 95th percentile is."""
    part = steps[-_FITTED_STEPS:]
    if part[0].begins is None:
        part = [replace(part[0], begins=part[0].share or 0.0), *part[1:]]

    mean = _mean_share(part)

    def cost(speed: float) -> float:
        tested = _test(part, replace(rough, speed=speed), points)
        return tested.mape * mean + tested.p95_error

    costs = {speed: cost(speed) for speed in _SPEEDS}
    near = min(_SPEEDS, key=costs.__getitem__)
    for quarter in range(-3, 4):
        speed = near * math.pow(2.0, quarter / 12)
        costs[speed] = cost(speed)
    best = min(costs, key=costs.__getitem__)
    alike = [speed for speed, its in costs.items() if its <= costs[best] + _INDISTINCT]
    return _Fit(best, (min(alike), max(alike)))


def _mean_share(steps: Sequence[Step]) -> float:
    known = [(step.share, step.seconds) for step in steps if step.share is not None]
    seconds = sum(one[1] for one in known)
    return sum(share * length for share, length in known) / seconds if seconds else 0.0


def _test(steps: Sequence[Step], hypothesis: Hypothesis, points: Points) -> BackTest:
    shares = simulate(steps, hypothesis, points)
    pairs = [
        (mine, step.share, step.seconds) for mine, step in zip(shares, steps, strict=True) if step.share is not None
    ]
    seconds = sum(length for _mine, _theirs, length in pairs)
    if not pairs or seconds <= 0:
        raise Uncalibrated("the checkpoint age was not read in one half of the window")
    off = sum(abs(mine - theirs) * length for mine, theirs, length in pairs)
    recorded = sum(theirs * length for _mine, theirs, length in pairs)
    return BackTest(
        mape=off / recorded if recorded else math.inf,
        p95_simulated=percentile([(mine, length) for mine, _theirs, length in pairs], 0.95),
        p95_recorded=percentile([(theirs, length) for _mine, theirs, length in pairs], 0.95),
        seconds=seconds,
    )


def percentile(shares: Sequence[tuple[float, float]], part: float) -> float:
    """The share of the limit that ``part`` of the time does not exceed; to a thousandth."""
    cells = [0.0] * (max((int(share / _CELL) for share, _seconds in shares), default=0) + 1)
    for share, seconds in shares:
        cells[int(share / _CELL)] += seconds
    return weighted_percentile(cells, _CELL, part)
