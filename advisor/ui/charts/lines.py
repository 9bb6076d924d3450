"""The lines and areas of a chart as SVG paths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from advisor.ui.charts import paths
from advisor.ui.charts.canvas import Canvas
from advisor.ui.charts.chart import Chart, Excess, Limit, Point, Trace


def render(canvas: Canvas, chart: Chart) -> str:
    """Everything that is stretched with the card, from back to front."""
    parts = [_trace(canvas, trace) for trace in chart.past]
    if chart.excess is not None:
        parts.append(_excess(canvas, chart.excess))
    parts += _stack(canvas, chart.traces) if chart.stacked else [_trace(canvas, trace) for trace in chart.traces]
    if chart.second is not None:
        parts += [_trace(canvas, on_first_scale(trace, canvas.second_factor)) for trace in chart.second.traces]
    parts += [_limit(canvas, limit) for limit in chart.limits]
    return (
        f'<svg class="lines" width="100%" height="{canvas.height}" viewBox="0 0 {canvas.columns} {canvas.rows}" '
        f'preserveAspectRatio="none">{"".join(parts)}</svg>'
    )


def on_first_scale(trace: Trace, factor: float) -> Trace:
    """A line of the second scale where it is drawn."""
    points = [None if p is None else (p[0], p[1] * factor, p[2] * factor, p[3] * factor) for p in trace.points]
    return replace(trace, points=points)


def _trace(canvas: Canvas, trace: Trace) -> str:
    lines = paths.runs(canvas.places(trace.points, 3))
    if not lines:
        return ""
    parts = []
    if trace.filled:
        d = "".join(paths.area_to(run, canvas.rows) for run in lines)
        parts.append(f'<path class="fill c-{trace.role}" d="{d}"/>')
    if trace.band and any(point is not None and point[1] != point[2] for point in trace.points):
        highs, lows = paths.runs(canvas.places(trace.points, 2)), paths.runs(canvas.places(trace.points, 1))
        d = "".join(paths.area(high, low) for high, low in zip(highs, lows, strict=True))
        parts.append(f'<path class="band c-{trace.role}" d="{d}"/>')
    kind = "line dashed" if trace.dashed else "line"
    parts.append(f'<path class="{kind} c-{trace.role}" d="{"".join(paths.polyline(run) for run in lines)}"/>')
    return "".join(parts)


def _stack(canvas: Canvas, traces: Sequence[Trace]) -> list[str]:
    """Areas on top of each other, in the order given from below; a bucket that one of them misses is a gap in all."""
    floor: list[float] = []
    layers: list[tuple[Trace, list[Point]]] = []
    for trace in traces:
        floor = floor or [0.0] * len(trace.points)
        layer: list[Point] = []
        for i, point in enumerate(trace.points):
            if point is None:
                layer.append(None)
            else:
                layer.append((point[0], floor[i], floor[i] + point[3], point[3]))
                floor[i] += point[3]
        layers.append((trace, layer))
    parts = []
    for trace, layer in layers:
        if all(p is None or p[3] == 0 for p in layer):
            continue
        lows, highs = paths.runs(canvas.places(layer, 1)), paths.runs(canvas.places(layer, 2))
        d = "".join(paths.area(high, low) for high, low in zip(highs, lows, strict=True))
        # Where a layer is nothing, its line would paint the edge of the one below in a false colour.
        tops = paths.runs(canvas.places([p if p is not None and p[3] > 0 else None for p in layer], 2))
        outline = "".join(paths.polyline(top) for top in tops)
        parts.append(
            f'<path class="stack c-{trace.role}" d="{d}"/><path class="line thin c-{trace.role}" d="{outline}"/>'
        )
    return parts


def corners(points: Sequence[tuple[float, float] | None]) -> list[tuple[float, float] | None]:
    """A limit hardly ever moves: only the points at which it does, and both ends of each run."""
    result: list[tuple[float, float] | None] = []
    for i, point in enumerate(points):
        inside = 0 < i < len(points) - 1
        before, after = (points[i - 1], points[i + 1]) if inside else (None, None)
        if point and before and after and before[1] == point[1] == after[1]:
            continue
        result.append(point)
    return result


def _limit(canvas: Canvas, limit: Limit) -> str:
    places = canvas.places(
        [None if p is None or p[1] > canvas.top else (p[0], p[1], p[1], p[1]) for p in corners(limit.points)], 3
    )
    d = "".join(paths.stepped(run) for run in paths.runs(places))
    return f'<path class="limit {limit.style} c-{limit.role}" d="{d}"/>' if d else ""


def excess_runs(above: Sequence[Point], below: Sequence[Point]) -> list[list[tuple[float, float, float]]]:
    """Where the first series is above the second: runs of (unix milliseconds, upper, lower), begun and ended where the
    two lines cross.
    """
    runs: list[list[tuple[float, float, float]]] = []
    current: list[tuple[float, float, float]] = []
    last: tuple[float, float, float] | None = None
    for first, second in zip(above, below, strict=True):
        if first is None or second is None:
            runs.append(current)
            current, last = [], None
            continue
        at, upper, lower = first[0], first[3], second[3]
        if last is not None and (last[1] > last[2]) != (upper > lower) and last[1] - last[2] != upper - lower:
            part = (last[1] - last[2]) / ((last[1] - last[2]) - (upper - lower))
            level = last[1] + part * (upper - last[1])
            current.append((last[0] + part * (at - last[0]), level, level))
            if upper <= lower:
                runs.append(current)
                current = []
        if upper > lower:
            current.append((at, upper, lower))
        last = (at, upper, lower)
    return [run for run in [*runs, current] if len(run) > 1]


def _excess(canvas: Canvas, excess: Excess) -> str:
    d = "".join(
        paths.area(
            [(canvas.column(at), canvas.row(upper)) for at, upper, _lower in run],
            [(canvas.column(at), canvas.row(lower)) for at, _upper, lower in run],
        )
        for run in excess_runs(excess.above, excess.below)
    )
    return f'<path class="excess c-{excess.role}" d="{d}"/>' if d else ""
