"""A chart as a file: the values that are drawn, in long form, by names that no language changes."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

from advisor.ui.charts.chart import Chart, Distribution, Point

#: Of a chart over time. ``time`` is ISO 8601 in UTC, ``unix_ms`` the same instant.
COLUMNS = ("time", "unix_ms", "series", "unit", "min", "max", "last")
#: Of a distribution: shares of the time between 0 and 1.
SPREAD_COLUMNS = ("series", "from", "to", "share")


def as_csv(chart: Chart) -> str:
    """One row for each bucket of each series, limits among them; what was not measured has no row."""
    rows: list[Iterable[object]] = []
    for key, unit, points in _series(chart):
        for point in points:
            if point is not None:
                at = datetime.fromtimestamp(point[0] / 1000, UTC).isoformat(timespec="milliseconds")
                rows.append((at.replace("+00:00", "Z"), round(point[0]), key, unit, *map(repr, point[1:])))
    return _written(COLUMNS, rows)


def spread_csv(chart: Distribution) -> str:
    """One row for each cell."""
    rows = [("pressure", bar.low, bar.high, repr(bar.share)) for bar in chart.bars]
    rows += [("pressure_before", bar.low, bar.high, repr(bar.share)) for bar in chart.before]
    return _written(SPREAD_COLUMNS, rows)


def as_series(chart: Chart, step_seconds: float) -> dict[str, Any]:
    """As the API's getSeries answers: points are [unix milliseconds, least, greatest, last], None where the line
    breaks. Limits have the corners of their steps.
    """
    return {
        "from": round(chart.started),
        "to": round(chart.ended),
        "step_seconds": step_seconds,
        "series": [
            {"name": key, "unit": unit, "kind": _kind(unit), "points": [_rounded(one) for one in points]}
            for key, unit, points in _series(chart)
        ],
        "gaps": [{"from": round(begun), "to": round(ended), "why": why} for begun, ended, why in chart.gaps],
    }


def spread_series(chart: Distribution) -> dict[str, Any]:
    """The cells and the figures of a distribution."""
    return {
        "cells": [[bar.low, bar.high, bar.share] for bar in chart.bars],
        "before": [[bar.low, bar.high, bar.share] for bar in chart.before],
        "marks": [{"value": value, "role": role} for value, role, _name in chart.marks],
    }


def _series(chart: Chart) -> Iterator[tuple[str, str, list[Point]]]:
    """Key, unit and points of each."""
    for trace in (*chart.traces, *chart.past):
        yield trace.key or trace.name, chart.unit, list(trace.points)
    if chart.second is not None:
        for trace in chart.second.traces:
            yield trace.key or trace.name, chart.second.unit, list(trace.points)
    for limit in chart.limits:
        points = [None if p is None else (p[0], p[1], p[1], p[1]) for p in limit.points]
        yield limit.key or limit.name, chart.unit, points


def _kind(unit: str) -> str:
    return "rate" if unit.endswith("/s") else "gauge"


def _rounded(point: Point) -> list[float] | None:
    return None if point is None else [round(point[0]), *point[1:]]


def _written(columns: tuple[str, ...], rows: Iterable[Iterable[object]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue()
