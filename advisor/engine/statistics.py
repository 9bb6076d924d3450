"""The few statistics that facts are condensed with. They take plain numbers and say what they do with an empty list."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil


def percentile(values: Iterable[float], share: float) -> float:
    """The nearest-rank percentile: the smallest value that at least ``share`` (0-1) of all values do not exceed.

    Nearest rank, because it always answers a value that was really seen. Raises ValueError without values.
    """
    ordered = sorted(values)
    if not ordered:
        raise ValueError("a percentile of nothing")
    return ordered[max(0, ceil(share * len(ordered)) - 1)]


def median(values: Iterable[float]) -> float:
    """The 50th percentile by nearest rank."""
    return percentile(values, 0.5)


def weighted_percentile(weights: Sequence[float], step: float, share: float) -> float:
    """The nearest-rank percentile of a histogram: the middle of the cell in which ``share`` of the weight is reached.

    Cell i holds the values from ``i * step`` to below ``(i + 1) * step``. The middle is never further than half a cell
    from the value that was really seen, and lies on the same side of each multiple of ``step``: a threshold at a cell's
    edge decides as it would have decided for the values themselves. Answers 0.0 for a histogram without weight.
    """
    total = sum(weights)
    if total <= 0:
        return 0.0
    reached = 0.0
    for index, weight in enumerate(weights):
        reached += weight
        if weight > 0 and reached >= share * total:
            return (index + 0.5) * step
    return (max(index for index, weight in enumerate(weights) if weight > 0) + 0.5) * step
