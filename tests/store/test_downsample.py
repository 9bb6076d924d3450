"""Buckets hold the least, the greatest and the last of their samples, and there are never more than asked for."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collector.store import downsample

_samples = st.lists(
    st.tuples(st.integers(1, 400), st.one_of(st.just(math.nan), st.floats(-1e9, 1e9))), min_size=0, max_size=120
)


def _naive(slots: list[int], values: list[float], width: int, longest: float) -> list[tuple[float, ...] | None]:
    """One bucket after the other, as a person would write it down."""
    result: list[tuple[float, ...] | None] = []
    previous: int | None = None
    for number in sorted({slot // width for slot in slots}):
        inside = [(slot, value) for slot, value in zip(slots, values, strict=True) if slot // width == number]
        if previous is not None and inside[0][0] - previous > longest and number - previous // width > 1:
            result.append(None)
        known = [value for _, value in inside if not math.isnan(value)]
        result.append((inside[-1][0] * 1000, min(known), max(known), known[-1]) if known else None)
        previous = inside[-1][0]
    return result


@given(_samples, st.integers(1, 900), st.integers(30, 500))
@settings(max_examples=300, deadline=None)
def test_buckets_equal_those_found_one_by_one(drawn: list[tuple[int, float]], width: int, longest: int) -> None:
    slots, values, at = [], [], 1_700_000_000
    for step, value in drawn:
        at += step
        slots.append(at)
        values.append(value)
    samples, told = np.array(slots, dtype=np.int64), np.array(values)
    groups = downsample.grouping(samples, samples, width)
    frame = downsample.frame([groups], longest)
    least, greatest, last = (
        downsample.placed(part, groups, frame) for part in downsample.extremes(told, told, told, groups)
    )
    at_ms = frame.at
    found = [
        None if math.isnan(a) else (t, a, b, c)
        for t, a, b, c in zip(at_ms.tolist(), least.tolist(), greatest.tolist(), last.tolist(), strict=True)
    ]
    assert found == _naive(slots, values, width, longest)
    assert (np.diff(at_ms) > 0).all()


@given(st.floats(1e9, 2e9), st.floats(0.5, 1e7), st.integers(2, 2000), st.integers(5, 70))
@settings(max_examples=300, deadline=None)
def test_there_are_never_more_points_than_asked_for(start: float, length: float, points: int, longest: int) -> None:
    end = start + length
    width = downsample.width_seconds(start, end, points)
    slots = np.unique(np.linspace(math.ceil(start), math.ceil(end) - 1, 3000).astype(np.int64))
    slots = slots[(slots >= start) & (slots < end)]
    frame = downsample.frame([downsample.grouping(slots, slots, width)], longest)
    assert frame.at.size <= points


def test_one_point_is_refused() -> None:
    with pytest.raises(ValueError, match="two points"):
        downsample.width_seconds(0, 10, 1)
