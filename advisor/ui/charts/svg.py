"""A chart over time as SVG.

Text keeps its size at every width: the outer drawing is as wide as its card, labels stand at percentages of it, and
only the lines lie in an inner drawing that is stretched. The axis' labels stand outside of it, in margins that the
style sheet keeps. Colours are classes, so that light, dark and print share one drawing.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import tzinfo

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from advisor.ui.charts import paths, scale
from advisor.ui.charts.chart import Chart, Limit, Point, Trace

TALL, LOW = 190, 124
#: Labels of two lines that are closer than this would run into each other, in pixels.
_LABEL_DISTANCE = 13
#: Where labels begin: those of the points that act stand in a second column, beside the reported ones.
_COLUMNS = (6, 150)


class _Canvas:
    """The stretched inner drawing: whole units, enough of them that no step is seen."""

    def __init__(self, chart: Chart) -> None:
        self.height = TALL if chart.tall else LOW
        self.columns, self.rows = (1600, 1000) if chart.tall else (800, 500)
        self.started, self.span = chart.started, max(chart.ended - chart.started, 1)
        self.ticks = ticks(chart)
        self.top = self.ticks[-1] or 1

    def column(self, at: float) -> int:
        return round((at - self.started) / self.span * self.columns)

    def row(self, value: float) -> int:
        return round(self.rows * (1 - min(max(value / self.top, 0), 1)))

    def share(self, at: float) -> str:
        """A time as a percentage of the width."""
        return f"{100 * (at - self.started) / self.span:.2f}%"

    def pixel(self, value: float) -> float:
        """A value as pixels from the top of the plot."""
        return self.height * (1 - min(max(value / self.top, 0), 1))


def ticks(chart: Chart) -> list[float]:
    """The values at which the axis has its rules, from zero to the top."""
    found = scale.amount_ticks(_top(chart), 4 if chart.tall else 3, chart.axis.base)
    if chart.axis.at_most is not None and found[-1] > chart.axis.at_most:
        found = [tick for tick in found if tick <= chart.axis.at_most]
    return found


def _top(chart: Chart) -> float:
    """What the axis has to reach: the greatest value drawn, and as much as the axis wants to show anyhow."""
    if chart.stacked:
        sums = (
            sum(point[3] for point in column if point is not None)
            for column in zip(*(trace.points for trace in chart.traces), strict=False)
        )
        greatest = max(sums, default=0)
    else:
        greatest = max((point[2] for trace in chart.traces for point in trace.points if point is not None), default=0)
    top = max(greatest, chart.axis.at_least)
    if chart.axis.at_most is not None:
        top = min(top, chart.axis.at_most)
    return top if top > 0 else 1


def render(chart: Chart, zone: tzinfo) -> SafeString:
    """The drawing. All words in it are escaped here: names of variables come from servers."""
    canvas = _Canvas(chart)
    inner = [_grid(canvas)]
    inner += [_gap(canvas, gap) for gap in chart.gaps]
    lines = _stack(canvas, chart.traces) if chart.stacked else [_trace(canvas, trace) for trace in chart.traces]
    limits = [limit for limit in chart.limits if limit.newest is not None]
    lines += [_limit(canvas, limit) for limit in limits]
    inner.append(
        f'<svg class="lines" width="100%" height="{canvas.height}" viewBox="0 0 {canvas.columns} {canvas.rows}" '
        f'preserveAspectRatio="none">{"".join(lines)}</svg>'
    )
    inner += _limit_labels(canvas, chart, limits)
    inner += [_happening(canvas, happening.at, happening.letter, happening.text) for happening in chart.happenings]
    if chart.is_empty:
        words = escape(chart.missing or _("No samples in this time."))
        inner.append(f'<text class="nothing" x="50%" y="{canvas.height // 2}" text-anchor="middle">{words}</text>')
    inner += _times(canvas, chart, zone)
    words = escape(chart.sentence or chart.title)
    return mark_safe(  # noqa: S308 -- numbers of ours and escaped words only
        f'<svg class="chart" height="{canvas.height}" width="100%" role="img" aria-label="{words}">'
        f"{_amounts(canvas, chart)}{''.join(inner)}</svg>"
    )


def _grid(canvas: _Canvas) -> str:
    rules = (
        f'<line class="{"base" if tick == 0 else "rule"}" x2="100%" y1="{y}" y2="{y}"/>'
        for tick in canvas.ticks
        for y in [round(canvas.pixel(tick)) + 0.5]
    )
    return f'<rect class="ground" width="100%" height="{canvas.height}"/>' + "".join(rules)


def _amounts(canvas: _Canvas, chart: Chart) -> str:
    return "".join(
        f'<text class="amount" x="-6" y="{round(canvas.pixel(tick)) + 4}" text-anchor="end">'
        f"{escape(chart.axis.label(tick))}</text>"
        for tick in canvas.ticks
    )


def _times(canvas: _Canvas, chart: Chart, zone: tzinfo) -> list[str]:
    """Fewer labels where a narrow card would run them into each other: style sheets hide the odd ones there."""
    labels = []
    ticks = scale.time_ticks(chart.started, chart.ended, zone, 8 if chart.tall else 6)
    for i, (at, text) in enumerate(ticks):
        share = (at - chart.started) / canvas.span
        anchor = "start" if share < 0.02 else "end" if share > 0.98 else "middle"
        kind = "time odd" if i % 2 else "time"
        labels.append(
            f'<text class="{kind}" x="{canvas.share(at)}" y="{canvas.height + 16}" text-anchor="{anchor}">{text}</text>'
        )
    return labels


def _places(canvas: _Canvas, points: Sequence[Point], which: int) -> list[paths.Place | None]:
    return [(canvas.column(point[0]), canvas.row(point[which])) if point is not None else None for point in points]


def _trace(canvas: _Canvas, trace: Trace) -> str:
    lines = paths.runs(_places(canvas, trace.points, 3))
    if not lines:
        return ""
    parts = []
    if trace.filled:
        d = "".join(paths.area_to(run, canvas.rows) for run in lines)
        parts.append(f'<path class="fill c-{trace.role}" d="{d}"/>')
    if trace.band and any(point is not None and point[1] != point[2] for point in trace.points):
        highs, lows = paths.runs(_places(canvas, trace.points, 2)), paths.runs(_places(canvas, trace.points, 1))
        d = "".join(paths.area(high, low) for high, low in zip(highs, lows, strict=True))
        parts.append(f'<path class="band c-{trace.role}" d="{d}"/>')
    kind = "line dashed" if trace.dashed else "line"
    parts.append(f'<path class="{kind} c-{trace.role}" d="{"".join(paths.polyline(run) for run in lines)}"/>')
    return "".join(parts)


def _stack(canvas: _Canvas, traces: Sequence[Trace]) -> list[str]:
    """Areas on top of each other, in the order given from below; a bucket that one of them misses is a gap in all."""
    floor: list[float] = []
    layers: list[tuple[Trace, list[tuple[float, float, float] | None]]] = []
    for trace in traces:
        floor = floor or [0.0] * len(trace.points)
        layer: list[tuple[float, float, float] | None] = []
        for i, point in enumerate(trace.points):
            if point is None:
                layer.append(None)
            else:
                layer.append((point[0], floor[i], floor[i] + point[3]))
                floor[i] += point[3]
        layers.append((trace, layer))
    parts = []
    for trace, layer in layers:
        lows = paths.runs((canvas.column(p[0]), canvas.row(p[1])) if p is not None else None for p in layer)
        highs = paths.runs((canvas.column(p[0]), canvas.row(p[2])) if p is not None else None for p in layer)
        if not highs or all(p is None or p[1] == p[2] for p in layer):
            continue
        d = "".join(paths.area(high, low) for high, low in zip(highs, lows, strict=True))
        outline = "".join(paths.polyline(high) for high in highs)
        parts.append(
            f'<path class="stack c-{trace.role}" d="{d}"/><path class="line thin c-{trace.role}" d="{outline}"/>'
        )
    return parts


def _limit(canvas: _Canvas, limit: Limit) -> str:
    places = [
        (canvas.column(point[0]), canvas.row(point[1])) if point is not None and point[1] <= canvas.top else None
        for point in limit.points
    ]
    d = "".join(paths.stepped(run) for run in paths.runs(places))
    return f'<path class="limit {limit.style} c-{limit.role}" d="{d}"/>' if d else ""


def _limit_labels(canvas: _Canvas, chart: Chart, limits: Sequence[Limit]) -> list[str]:
    """Names at the left end of their lines. What is above the axis is named at its top, with an arrow."""
    labels = []
    for column, fine in zip(_COLUMNS, (False, True), strict=True):
        found = []
        for limit in limits:
            if (limit.style == "fine") is not fine:
                continue
            first = next((point[1] for point in limit.points if point is not None), 0.0)
            text = f"{limit.name} {chart.axis.label(limit.newest or 0.0)}" + (" ↑" if first > canvas.top else "")
            found.append((canvas.pixel(first) - 4, text, limit.role))
        found.sort(key=lambda one: one[0])
        places = scale.spread([one[0] for one in found], _LABEL_DISTANCE, 9, canvas.height - 4)
        labels += [
            f'<text class="name c-{role}" x="{column}" y="{round(place)}">{escape(text)}</text>'
            for place, (_wanted, text, role) in zip(places, found, strict=True)
        ]
    return labels


def _happening(canvas: _Canvas, at: float, letter: str, text: str) -> str:
    x = canvas.share(at)
    return (
        f'<g class="happening"><title>{escape(text)}</title><line x1="{x}" x2="{x}" y1="0" y2="{canvas.height}"/>'
        f'<text x="{x}" y="-2" text-anchor="middle">{escape(letter)}</text></g>'
    )


def _gap(canvas: _Canvas, gap: tuple[float, float, str]) -> str:
    started, ended = max(gap[0], canvas.started), min(gap[1], canvas.started + canvas.span)
    if ended <= started:
        return ""
    width = f"{100 * (ended - started) / canvas.span:.2f}%"
    return (
        f'<rect class="gap" x="{canvas.share(started)}" width="{width}" height="{canvas.height}">'
        f"<title>{escape(gap[2])}</title></rect>"
    )
