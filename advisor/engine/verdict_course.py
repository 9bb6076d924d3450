"""One window of polls as arrays, cut into pieces that a bootstrap can draw from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from advisor.mysql import series
from advisor.mysql.rates import Interval

F64 = npt.NDArray[np.float64]

#: A window of a day has 8,640 polls; this many pieces of it say as much of how it swings, and are drawn in no time.
MOST_PIECES = 240
#: Cells of a histogram: a percentile of a ratio to half a hundredth, up to 1.5.
_CELL, _CELLS = 0.005, 300
#: Fewer transactions a second than this are the server's own or a tool's, and no unit for its work; the same of
#: statements, of which a poll alone makes some.
_LEAST_TRANSACTIONS, _LEAST_STATEMENTS = 0.2, 2.0


@dataclass(frozen=True)
class Parts:
    """Numerator and denominator of a quotient, summed over each piece."""

    amounts: F64
    wholes: F64

    def draws(self, weights: F64 | None) -> F64:
        """The quotient of each row of ``weights`` (None: of the window itself, one value); NaN without a whole."""
        amounts = self.amounts.sum()[None] if weights is None else weights @ self.amounts
        wholes = self.wholes.sum()[None] if weights is None else weights @ self.wholes
        with np.errstate(divide="ignore", invalid="ignore"):
            found: F64 = np.where(wholes > 0, amounts / wholes, np.nan)
        return found


@dataclass(frozen=True)
class Cells:
    """Seconds of each piece in each cell of a histogram, whose percentile is asked for."""

    seconds: F64
    share: float

    def draws(self, weights: F64 | None) -> F64:
        """See ``Parts.draws``; the upper edge of the cell in which the percentile lies."""
        sums = self.seconds.sum(axis=0)[None, :] if weights is None else weights @ self.seconds
        reached = np.cumsum(sums, axis=1)
        whole = reached[:, -1:]
        cell = (reached < self.share * whole - 1e-9).sum(axis=1)
        found: F64 = np.where(whole[:, 0] > 0, (cell + 1) * _CELL, np.nan)
        return found


@dataclass(frozen=True)
class Course:
    """Consecutive intervals of one server, oldest first. ``work_kind`` is transactions or statements, "" for neither:
    choose it for both windows alike (``work_kind_of``).
    """

    intervals: Sequence[Interval] = field(repr=False)
    work_kind: str = "transactions"

    @property
    def count(self) -> int:
        return len(self.intervals)

    @cached_property
    def seconds(self) -> F64:
        return np.array([one.seconds for one in self.intervals], dtype=np.float64)

    @property
    def started_at(self) -> float:
        return self.intervals[0].started_at

    @property
    def ended_at(self) -> float:
        return self.intervals[-1].ended_at

    @property
    def processes(self) -> frozenset[int]:
        """When the processes that answered had started, to some seconds: more than one means a restart inside."""
        starts = sorted({one.current.server_clock - one.current.uptime_seconds for one in self.intervals})
        return frozenset(
            round(start) for place, start in enumerate(starts) if not place or start - starts[place - 1] > 30
        )

    @property
    def capacities(self) -> frozenset[float]:
        """Sizes that the redo log had at the polls of the window."""
        found = (one.current.values.get(series.CAPACITY) for one in self.intervals)
        return frozenset(float(value) for value in found if value is not None)

    @property
    def work(self) -> F64 | None:
        name = {"transactions": series.TRANSACTIONS, "statements": "Questions"}.get(self.work_kind)
        return None if name is None else self.grown(name)

    def grown(self, name: str) -> F64 | None:
        """By how much a counter grew in each interval, NaN where that cannot be told; None where it never can."""
        found = np.array([_or_nan(one.delta(name)) for one in self.intervals], dtype=np.float64)
        return found if np.isfinite(found).any() else None

    def last(self, name: str) -> F64 | None:
        """The value at each interval's end; NaN and None as ``grown``."""
        found = np.array([_or_nan(one.last(name)) for one in self.intervals], dtype=np.float64)
        return found if np.isfinite(found).any() else None

    def parts(self, amounts: F64, wholes: F64) -> Parts:
        """Both over the pieces; an interval where either is unknown counts for neither."""
        known = np.isfinite(amounts) & np.isfinite(wholes)
        return Parts(self._summed(np.where(known, amounts, 0.0)), self._summed(np.where(known, wholes, 0.0)))

    def cells(self, values: F64, share: float) -> Cells:
        """The time at each level of a ratio."""
        known = np.isfinite(values)
        cell = np.clip(np.where(known, values, 0.0) / _CELL, 0, _CELLS - 1).astype(np.int64)
        seconds = np.zeros((self.count, _CELLS))
        seconds[np.arange(self.count), cell] = np.where(known, self.seconds, 0.0)
        return Cells(self._summed(seconds), share)

    @cached_property
    def _begins(self) -> npt.NDArray[np.int64]:
        pieces = min(self.count, MOST_PIECES)
        return np.unique(np.linspace(0, self.count, pieces, endpoint=False).astype(np.int64))

    @property
    def pieces(self) -> int:
        return int(self._begins.size)

    def _summed(self, values: F64) -> F64:
        found: F64 = np.add.reduceat(values, self._begins, axis=0)
        return found


def work_kind_of(*windows: Sequence[Interval]) -> str:
    """The unit of work that all these windows did enough of: transactions, else statements, else ""."""
    for kind, name, least in (
        ("transactions", series.TRANSACTIONS, _LEAST_TRANSACTIONS),
        ("statements", "Questions", _LEAST_STATEMENTS),
    ):
        rates = []
        for window in windows:
            known = [(grown, one.seconds) for one in window if (grown := one.delta(name)) is not None]
            seconds = sum(seconds for _, seconds in known)
            rates.append(sum(grown for grown, _ in known) / seconds if seconds else 0.0)
        if rates and min(rates) >= least:
            return kind
    return ""


def _or_nan(value: float | None) -> float:
    return np.nan if value is None else float(value)
