"""A chart as plain data: for Plotly, which takes over when a chart is touched, and as rows of a table."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, tzinfo
from typing import Any

from django.utils.safestring import SafeString, mark_safe

from advisor.ui import quantities
from advisor.ui.charts.canvas import Canvas
from advisor.ui.charts.chart import Chart, Point, Trace
from advisor.ui.charts.lines import corners, excess_runs
from advisor.ui.charts.scale import time_ticks
from advisor.ui.charts.svg import limit_labels, right_marks

#: A table of more rows is not read by a person; the buckets are joined until it has about this many.
TABLE_ROWS = 60


def _rounded(value: float) -> float:
    return round(value) if abs(value) >= 1000 else round(value, 4)


def as_data(chart: Chart, zone: tzinfo) -> dict[str, Any]:
    """JSON-ready: times in unix milliseconds, None where there is a gap. Names are texts, never markup or code: Plotly
    takes some markup in names, so what servers and people named is told of its marks (``_plain``).
    """
    canvas = Canvas(chart)
    return {
        "id": chart.id,
        "title": chart.title,
        "from": chart.started,
        "to": chart.ended,
        "base": chart.axis.base,
        "unit": chart.unit,
        "stacked": chart.stacked,
        "top": canvas.top,
        "ticks": [[tick, chart.axis.label(tick)] for tick in canvas.ticks],
        "times": [[at, text] for at, text in time_ticks(chart.started, chart.ended, zone, 8 if chart.tall else 6)],
        "labels": [
            {"x": x, "y": y, "role": role, "text": _plain(text)} for x, y, role, text in limit_labels(canvas, chart)
        ],
        "right": None
        if chart.right is None
        else {"whole": chart.right.whole, "marks": [[value, text] for value, text in chart.right.marks]},
        "second": None
        if chart.second is None
        else {
            "unit": chart.second.unit,
            "factor": canvas.second_factor,
            "marks": right_marks(canvas, chart),
            "traces": [_line(trace) for trace in chart.second.traces],
        },
        "gaps": [[begun, ended] for begun, ended, _why in chart.gaps],
        "happenings": [{"at": one.at} for one in chart.happenings],
        "excess": [] if chart.excess is None else [_area(chart.excess.role, run) for run in _runs(chart)],
        "past": [_line(trace) for trace in chart.past],
        "traces": [_line(trace) for trace in chart.traces],
        "limits": [
            {
                "name": _plain(limit.name),
                "role": limit.role,
                "style": limit.style,
                "x": [point[0] if point else None for point in corners(limit.points)],
                "y": [_rounded(point[1]) if point else None for point in corners(limit.points)],
            }
            for limit in chart.limits
        ],
    }


def _line(trace: Trace) -> dict[str, Any]:
    return {
        "name": _plain(trace.name),
        "role": trace.role,
        "filled": trace.filled,
        "dashed": trace.dashed,
        "x": [point[0] if point else None for point in trace.points],
        "y": [_rounded(point[3]) if point else None for point in trace.points],
        "low": [_rounded(point[1]) if point else None for point in trace.points] if trace.band else None,
        "high": [_rounded(point[2]) if point else None for point in trace.points] if trace.band else None,
    }


def _runs(chart: Chart) -> list[list[tuple[float, float, float]]]:
    return excess_runs(chart.excess.above, chart.excess.below) if chart.excess is not None else []


def _area(role: str, run: Sequence[tuple[float, float, float]]) -> dict[str, Any]:
    return {
        "role": role,
        "x": [round(at) for at, _upper, _lower in run],
        "upper": [_rounded(upper) for _at, upper, _lower in run],
        "lower": [_rounded(lower) for _at, _upper, lower in run],
    }


def _plain(text: str) -> str:
    return text.replace("<", "‹").replace(">", "›")


def table(chart: Chart) -> tuple[list[str], list[tuple[float, list[tuple[float, float, float] | None]]]]:
    """Names of the series, and rows of (unix milliseconds, least, greatest and last of each series), newest first."""
    names = [trace.name for trace in chart.traces]
    traces = list(chart.traces)
    if chart.second is not None:
        names += [f"{trace.name}, {chart.second.unit}" for trace in chart.second.traces]
        traces += chart.second.traces
    length = max((len(trace.points) for trace in traces), default=0)
    step = max(-(-length // TABLE_ROWS), 1)
    rows = []
    for begin in range(0, length, step):
        cells: list[tuple[float, float, float] | None] = []
        at: float | None = None
        for trace in traces:
            joined = _join(trace.points[begin : begin + step])
            at = at if joined is None else at or joined[0]
            cells.append(None if joined is None else joined[1:])
        if at is not None:
            rows.append((at, cells))
    rows.reverse()
    return names, rows


def table_body(rows: Sequence[tuple[float, Sequence[tuple[float, float, float] | None]]], zone: tzinfo) -> SafeString:
    """The rows of ``table`` as markup, times in ``zone``. Six charts have some thousand cells: a template's loop over
    them would take longer than all the drawing.
    """
    parts = []
    for at, cells in rows:
        figures = (figure for cell in cells for figure in (cell or (None, None, None)))
        shown = "".join(f"<td>{quantities.NOTHING if one is None else quantities.number(one)}</td>" for one in figures)
        parts.append(f'<tr><th scope="row">{datetime.fromtimestamp(at / 1000, zone):%m-%d %H:%M:%S}</th>{shown}</tr>')
    return mark_safe("".join(parts))  # noqa: S308 - numbers and times only, of our own printing


def _join(points: Sequence[Point]) -> tuple[float, float, float, float] | None:
    known = [point for point in points if point is not None]
    if not known:
        return None
    return known[0][0], min(p[1] for p in known), max(p[2] for p in known), known[-1][3]
