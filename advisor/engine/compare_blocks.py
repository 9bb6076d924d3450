"""One window of readings cut into blocks of time: by how much everything grew in each, restarts and gaps left out.

A counter is cumulative, so what happened between two readings is their difference, as long as one and the same server
process was running and nothing set the counter back. Everything that compares two windows begins with these blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import numpy.typing as npt

from advisor.engine.units import HOUR, MINUTE
from advisor.mysql import counters
from advisor.mysql.counters import Kind, reset_by_flush_status

F64 = npt.NDArray[np.float64]

#: With fewer blocks than this the swings of a counter within a window are not known well enough to judge by them.
ENOUGH_BLOCKS = 10
#: Lengths of blocks: the longest that leaves a window enough of them, so that neighbours depend little on each other.
_WIDTHS = (HOUR, 5 * MINUTE, MINUTE, 10)
_FLUSHED = "Uptime_since_flush_status"


class Readings(Protocol):
    """All numbers of one server over a time, as arrays of one length, oldest first.

    ``at`` is our unix seconds, ``uptime_seconds`` the server's time since its start, and ``seconds`` its time since the
    reading before: NaN for the first one and where nothing can be said of the time between two. ``values`` are as they
    were read, NaN where a name was not; ``restarts`` are instants of ``at`` that are the first after a restart.
    """

    @property
    def at(self) -> F64: ...

    @property
    def uptime_seconds(self) -> F64: ...

    @property
    def seconds(self) -> F64: ...

    @property
    def values(self) -> Mapping[str, F64]: ...

    @property
    def restarts(self) -> tuple[float, ...]: ...


@dataclass(frozen=True)
class Blocks:
    """A window in ``seconds.size`` blocks of about ``width_seconds``.

    ``seconds`` holds how much of each block was measured. ``amounts[block, name]`` is the growth of a counter or
    position, or the sum of value x seconds of a gauge; ``covered[block, name]`` the seconds in which that is known.
    ``left_out_seconds`` lie between readings that could not be subtracted from each other. ``up_since`` is when the
    process that answered first had started (unix seconds).
    """

    names: tuple[str, ...]
    kinds: tuple[Kind, ...]
    width_seconds: int
    seconds: F64
    amounts: F64
    covered: F64
    started_at: float
    ended_at: float
    readings: int
    restarts: tuple[float, ...]
    left_out_seconds: float
    up_since: float

    @property
    def count(self) -> int:
        return int(self.seconds.size)

    @property
    def measured_seconds(self) -> float:
        return float(self.seconds.sum())


def width_of(seconds: float, spacing: float = 0.0) -> int:
    """How long the blocks of a window are: the longest of the usual lengths that leaves enough of them; never shorter
    than the readings' own spacing.
    """
    for width in _WIDTHS:
        if seconds >= (ENOUGH_BLOCKS - 0.5) * width and width >= spacing:
            return width
    return max(_WIDTHS[-1], round(spacing))


def cut(readings: Readings, *, width: int | None = None, kind: Callable[[str], Kind] = counters.kind) -> Blocks:
    """The readings in blocks of ``width`` seconds; None chooses it by what was measured."""
    at = np.asarray(readings.at, dtype=np.float64)
    names = tuple(readings.values)
    kinds = tuple(kind(name) for name in names)
    passed = np.asarray(readings.seconds, dtype=np.float64)[1:]
    fine = np.isfinite(passed) & (passed > 0)
    seconds = passed[fine]
    if width is None:
        width = width_of(float(seconds.sum()), float(np.median(seconds)) if seconds.size else 0.0)
    matrix = np.array([readings.values[name] for name in names], dtype=np.float64).reshape(len(names), at.size).T
    amounts = _amounts(matrix, passed, names, kinds, readings.values.get(_FLUSHED))[fine]
    known = np.isfinite(amounts)
    # The pieces are in the order of time, so that a block is a run of them.
    middle = ((at[1:] + at[:-1]) / 2 - (at[0] if at.size else 0.0))[fine]
    begins = np.flatnonzero(np.diff(np.floor(middle / width), prepend=-1.0)) if middle.size else np.zeros(0, np.int64)
    return Blocks(
        names=names,
        kinds=kinds,
        width_seconds=width,
        seconds=_summed(seconds, begins),
        amounts=_summed(np.where(known, amounts, 0.0), begins),
        covered=_summed(known * seconds[:, None], begins),
        started_at=float(at[0]) if at.size else 0.0,
        ended_at=float(at[-1]) if at.size else 0.0,
        readings=int(at.size),
        restarts=tuple(readings.restarts),
        left_out_seconds=float(np.diff(at)[~fine].sum()) if at.size else 0.0,
        up_since=float(at[0] - readings.uptime_seconds[0]) if at.size else 0.0,
    )


def joined(parts: Sequence[Blocks]) -> Blocks:
    """One window of several that follow each other, oldest first; a name that a part lacks is unknown in it.

    Long windows are cut part by part, since all their numbers at once would fill the memory. Raises ValueError without
    parts.
    """
    if not parts:
        raise ValueError("no parts to join")
    if len(parts) == 1:
        return parts[0]
    kinds = {name: kind for part in parts for name, kind in zip(part.names, part.kinds, strict=True)}
    names = tuple(kinds)
    filled = [part for part in parts if part.readings]
    return Blocks(
        names=names,
        kinds=tuple(kinds.values()),
        width_seconds=parts[0].width_seconds,
        seconds=np.concatenate([part.seconds for part in parts]),
        amounts=np.concatenate([over(part, names).amounts for part in parts]),
        covered=np.concatenate([over(part, names).covered for part in parts]),
        started_at=filled[0].started_at if filled else 0.0,
        ended_at=filled[-1].ended_at if filled else 0.0,
        # Parts share the reading at which one ends and the next begins.
        readings=sum(part.readings for part in filled) - max(len(filled) - 1, 0),
        restarts=tuple(sorted({at for part in parts for at in part.restarts})),
        left_out_seconds=sum(part.left_out_seconds for part in parts),
        up_since=filled[0].up_since if filled else 0.0,
    )


def over(blocks: Blocks, names: tuple[str, ...]) -> Blocks:
    """The same window with exactly these names, in this order; what it lacks is unknown throughout, as a counter."""
    if blocks.names == names:
        return blocks
    places = {name: place for place, name in enumerate(blocks.names)}
    amounts, covered = (np.zeros((blocks.count, len(names))) for _ in range(2))
    here = [place for place, name in enumerate(names) if name in places]
    there = [places[names[place]] for place in here]
    amounts[:, here], covered[:, here] = blocks.amounts[:, there], blocks.covered[:, there]
    kinds = tuple(blocks.kinds[places[name]] if name in places else Kind.COUNTER for name in names)
    return replace(blocks, names=names, kinds=kinds, amounts=amounts, covered=covered)


def _amounts(matrix: F64, passed: F64, names: Sequence[str], kinds: Sequence[Kind], flushed: F64 | None) -> F64:
    """Of each interval and name: growth, or for gauges the mean of both ends times the seconds; NaN where unknown."""
    gauges = np.array([kind is Kind.GAUGE for kind in kinds], dtype=np.bool_)
    grown = np.diff(matrix, axis=0)
    # A counter that fell was set back or wrapped around: by how much it grew besides, nobody knows.
    grown = np.where(grown < 0, np.nan, grown)
    if flushed is not None:
        with np.errstate(invalid="ignore"):
            anew = np.diff(flushed) < passed - 2.0
        touched = np.array([reset_by_flush_status(name) for name in names], dtype=np.bool_)
        grown[np.ix_(anew, touched)] = np.nan
    lasting = (matrix[1:] + matrix[:-1]) / 2 * passed[:, None]
    return np.where(gauges[None, :], lasting, grown)


def _summed(values: F64, begins: npt.NDArray[np.int64]) -> F64:
    return np.add.reduceat(values, begins, axis=0) if begins.size else values[:0]
