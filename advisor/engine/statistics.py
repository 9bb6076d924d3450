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


def weighted_percentile(weights: Sequence[float], edges: Sequence[float], share: float) -> float:
    """The upper edge of the histogram cell in which ``share`` of the total weight is reached.

    ``edges[i]`` is the upper edge of cell i. Answers 0.0 for a histogram without weight.
    """
    total = sum(weights)
    if total <= 0:
        return 0.0
    reached = 0.0
    for weight, edge in zip(weights, edges, strict=True):
        reached += weight
        if reached >= share * total:
            return edge
    return edges[-1]
