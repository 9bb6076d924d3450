"""A metric before and after, with the interval that its difference lies in.

**Interval.** The middle 99 % of bootstrap draws over pieces of both windows (``bootstrap``). A window of some minutes
cannot know how much windows of that length differ among themselves (a batch each ten minutes, a checkpoint each five),
so each draw is moved by a chance of the size in which *earlier* windows of the same length differed, where there are
enough of them: what a metric does anyhow is no effect of a change.

Many metrics are looked at and each may err, hence 99 % and not 95 %; and what is smaller than a metric's ``least`` is
of no use to anybody, however certain.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from advisor.engine import bootstrap
from advisor.engine.verdict_course import F64, Course
from advisor.engine.verdict_metrics import Metric, Scale, parts_of

SHARE_OF_DRAWS = 0.99
_DRAWS = 999
#: So many earlier windows tell how much windows differ; with fewer, the assumed swing counts.
ENOUGH_EARLIER = 4
_ASSUMED = {Scale.AMOUNT: 0.05, Scale.SHARE: 0.02}
_SEED = 77


@dataclass(frozen=True)
class Figure:
    """``change`` is a factor for amounts and a difference for shares; ``low`` and ``high`` bound it.

    ``change`` is None for an amount that was zero and is not, or the other way round: then the bounds are None too.
    ``moved`` is +1 or -1 where the metric certainly rose or fell by as much as matters, else 0.
    """

    metric: Metric
    before: float
    after: float
    change: float | None
    low: float | None
    high: float | None
    moved: int

    @property
    def judged(self) -> int:
        """+1 better, -1 worse, 0 neither."""
        return self.moved * self.metric.better


def figure(metric: Metric, before: Course, after: Course, earlier: Sequence[Course] = ()) -> Figure | None:
    """The metric in both windows; None where either does not tell it. ``earlier`` are windows before ``before``."""
    one, other = parts_of(metric, before), parts_of(metric, after)
    if one is None or other is None:
        return None
    told = float(one.draws(None)[0]), float(other.draws(None)[0])
    if not (np.isfinite(told[0]) and np.isfinite(told[1])):
        return None
    past = [float(parts.draws(None)[0]) for course in earlier if (parts := parts_of(metric, course)) is not None]
    draws = [
        parts.draws(_weights(course.pieces, place))
        for place, (parts, course) in enumerate(((one, before), (other, after)))
    ]
    swing = _swing(metric, [*past, told[0]], told[0])
    chance = np.random.default_rng(_SEED).normal(0.0, 1.0, (2, _DRAWS)) * swing
    if metric.scale is Scale.SHARE:
        return _share(metric, told, draws[1] - draws[0] + chance[1] - chance[0])
    return _amount(metric, told, draws, chance)


@lru_cache(maxsize=4)
def _weights(pieces: int, side: int) -> F64:
    """The same for every metric of a window; the two windows are drawn apart from each other."""
    return bootstrap.weights(pieces, _DRAWS, seed=side)


def _share(metric: Metric, told: tuple[float, float], differences: F64) -> Figure:
    low, high = _bounds(differences)
    change = told[1] - told[0]
    moved = int(np.sign(change)) if abs(change) >= metric.least and (low > 0 or high < 0) else 0
    return Figure(metric, *told, change, max(low, -1.0), min(high, 1.0), moved)


def _amount(metric: Metric, told: tuple[float, float], draws: Sequence[F64], chance: F64) -> Figure:
    if max(told) <= 0:
        return Figure(metric, 0.0, 0.0, None, None, None, 0)
    # A draw without any event still has a logarithm; a thousandth of the larger figure is as good as none.
    floor = max(told) / 1000
    with np.errstate(invalid="ignore"):
        logs = [np.log(np.maximum(one, floor)) for one in draws]
    low, high = np.exp(np.array(_bounds(logs[1] - logs[0] + chance[1] - chance[0])))
    ratio = max(told[1], floor) / max(told[0], floor)
    certain = low > 1 or high < 1
    matters = max(ratio, 1 / ratio) >= 1 + metric.least and max(told) >= metric.negligible
    moved = int(np.sign(ratio - 1)) if certain and matters else 0
    if min(told) <= 0:
        return Figure(metric, *told, None, None, None, moved)
    return Figure(metric, *told, ratio, float(low), float(high), moved)


def _bounds(draws: F64) -> tuple[float, float]:
    known = draws[np.isfinite(draws)]
    if not known.size:
        return -np.inf, np.inf
    low, high = bootstrap.bounds(known, SHARE_OF_DRAWS)
    return float(low), float(high)


def _swing(metric: Metric, windows: Sequence[float], present: float) -> float:
    """The standard deviation among windows of one length: of the logarithm for amounts, of the share itself."""
    known = np.array([value for value in windows if np.isfinite(value)])
    if known.size <= ENOUGH_EARLIER:
        return _ASSUMED[metric.scale]
    if metric.scale is Scale.SHARE:
        return float(known.std(ddof=1))
    if present <= 0 and not known.any():
        return 0.0
    floor = max(float(known.max()), present) / 100
    return float(np.log(np.maximum(known, floor)).std(ddof=1))
