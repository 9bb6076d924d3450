"""The figures behind a comparison, for all names at once: rates, spreads, scores and intervals as arrays.

What they mean and why is told in ``compare``, which is the only user.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from advisor.engine import bootstrap
from advisor.engine.compare_blocks import ENOUGH_BLOCKS, F64, Blocks
from advisor.mysql.counters import Kind

#: From this score on a change is unusual: three times what the counter does by itself.
UNUSUAL = 3.0
_FLOOR, _ASSUMED_SWING, _MAD = 0.05, 0.3, 1.4826


@dataclass(frozen=True)
class Factor:
    """A figure before and after. ``ratio`` is None where either is zero, ``low`` and ``high`` where no interval can be
    told, ``unusual`` where that cannot be judged.
    """

    before: float
    after: float
    ratio: float | None
    low: float | None
    high: float | None
    score: float
    unusual: bool | None


class Sums:
    """The sums of one window's blocks, and those of its bootstrap draws where there are blocks enough."""

    def __init__(self, blocks: Blocks) -> None:
        self.blocks = blocks
        self.sums, self.seconds = blocks.amounts.sum(axis=0), blocks.covered.sum(axis=0)
        self.known = self.seconds > 0
        self.counts = np.array([kind is not Kind.GAUGE for kind in blocks.kinds], dtype=np.bool_)
        self.enough = blocks.count >= ENOUGH_BLOCKS
        # Half an event, or half a unit for the whole time where a gauge stands at zero.
        self.half = np.where(self.counts, 0.5, 0.5 * self.seconds)

    def column(self, name: str) -> int | None:
        return self.blocks.names.index(name) if name in self.blocks.names else None

    def total(self, names: tuple[str, ...]) -> F64 | None:
        """The sum of these counters in each block; None where one of them is not known throughout."""
        places = [self.column(name) for name in names]
        if any(place is None or not self.known[place] for place in places):
            return None
        found: F64 = self.blocks.amounts[:, [place for place in places if place is not None]].sum(axis=1)
        return found


class Factors:
    """All names' figures before and after, per second (``units`` None) or per unit of work, in one go of arrays."""

    def __init__(self, one: Sums, other: Sums, units: tuple[F64, F64] | None) -> None:
        self.judged = one.enough and other.enough
        parts = [_Part(side, None if units is None else units[place], place) for place, side in enumerate((one, other))]
        with np.errstate(divide="ignore", invalid="ignore"):
            self.before, self.after = parts[0].figure, parts[1].figure
            logs = parts[1].log - parts[0].log
            pooled = (one.sums + other.sums) / (one.seconds + other.seconds)
            expected = [np.maximum(pooled * side.seconds, 0.5) for side in (one, other)]
            # A gauge of whole numbers that moved by one or two says as little as one or two events do.
            whole = 0.5 / (pooled + 0.5)
            counting = np.where(one.counts, 1 / expected[0] + 1 / expected[1], whole)
            swing = (
                (parts[0].swing ** 2 + parts[1].swing ** 2) / 2
                if self.judged
                else np.full(logs.shape, _ASSUMED_SWING**2)
            )
            sampling = parts[0].error ** 2 + parts[1].error ** 2
            score = np.abs(logs) / np.sqrt(swing + sampling + counting + _FLOOR**2)
            self.score = np.where((self.before == 0) & (self.after == 0), 0.0, np.nan_to_num(score))
            self.ratio = self.after / self.before
            self.low = self.high = np.full(logs.shape, np.nan)
            if self.judged and parts[0].draws is not None and parts[1].draws is not None:
                self.low, self.high = bootstrap.bounds(parts[1].draws / parts[0].draws)

    def at(self, place: int) -> Factor:
        before, after = float(self.before[place]), float(self.after[place])
        one_sided = before <= 0 or after <= 0
        low, high = float(self.low[place]), float(self.high[place])
        bounded = not one_sided and low == low and high == high
        unusual: bool | None = None
        if self.judged:
            outside = not bounded or not low <= 1 <= high
            unusual = bool(self.score[place] >= UNUSUAL and outside)
        return Factor(
            before=before,
            after=after,
            ratio=None if one_sided else float(self.ratio[place]),
            low=low if bounded else None,
            high=high if bounded else None,
            score=float(self.score[place]),
            unusual=unusual,
        )


class _Part:
    """One window's figures: the rate, its logarithm, how the blocks swing around it, and its sampling error."""

    def __init__(self, side: Sums, units: F64 | None, place: int) -> None:
        blocks = side.blocks
        per = blocks.covered if units is None else blocks.covered * (units / blocks.seconds)[:, None]
        whole = per.sum(axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            self.figure = side.sums / whole
            self.log = np.log((side.sums + side.half) / whole)
            half = np.where(side.counts, 0.5, 0.5 * blocks.covered)
            logs = np.where(per > 0, np.log((blocks.amounts + half) / per), np.nan)
            self.swing = np.nan_to_num(_MAD * _median(np.abs(logs - _median(logs))))
            left = blocks.amounts - per * self.figure
            pieces = blocks.count
            widened = pieces / (pieces - 1) if pieces > 1 else 1.0
            self.error = np.nan_to_num(np.sqrt(widened * (left**2).sum(axis=0)) / (side.sums + side.half))
            self.draws: F64 | None = None
            if side.enough:
                # Another seed for each side, or both would be drawn in step and their errors cancel.
                weights = bootstrap.weights(pieces, seed=place)
                # Half an event keeps draws without any from dividing by nothing; a gauge needs it not.
                self.draws = (weights @ blocks.amounts + np.where(side.counts, side.half, 0.0)) / (weights @ per)


def _median(values: F64) -> F64:
    """Along the blocks; NaN where no block is known, without a warning about it."""
    known = np.isfinite(values)
    filled = np.sort(np.where(known, values, np.inf), axis=0)
    count = known.sum(axis=0)
    low, high = np.maximum(count - 1, 0) // 2, np.minimum(count // 2, len(values) - 1)
    columns = np.arange(values.shape[1])
    with np.errstate(invalid="ignore"):
        middle = (filled[low, columns] + filled[high, columns]) / 2
    return np.where(count > 0, middle, np.nan)
