"""A distribution as SVG: how much of the time a value was where, alone or beside that of another time."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from advisor.ui.charts import scale
from advisor.ui.charts.canvas import LOW
from advisor.ui.charts.chart import Bar, Distribution
from advisor.ui.quantities import percent

#: Units of the stretched drawing that holds the lines.
_COLUMNS, _ROWS = 800, 500


def render(chart: Distribution) -> SafeString:
    """The drawing for a page, its size left to the style sheet."""
    words = escape(chart.sentence or chart.title)
    return mark_safe(  # noqa: S308 -- numbers of ours and escaped words only
        f'<svg class="chart" height="{LOW}" width="100%" role="img" aria-label="{words}">{inner(chart)}</svg>'
    )


def inner(chart: Distribution) -> str:
    """Bars over the value's range, or two lines of shares at or below it; marks are vertical lines with their names."""
    low = min((bar.low for bar in chart.bars), default=0.0)
    high = max((bar.high for bar in chart.bars), default=1.0)
    greatest = 1.0 if chart.before else max((bar.share for bar in chart.bars), default=0) or 1
    ticks = scale.amount_ticks(greatest, 3)
    ticks = [tick for tick in ticks if tick <= 1.0] if chart.before else ticks
    top = ticks[-1]

    def across(value: float) -> float:
        return 100 * (value - low) / ((high - low) or 1)

    parts = [f'<rect class="ground" width="100%" height="{LOW}"/>']
    for tick in ticks:
        y = round(LOW * (1 - tick / top)) + 0.5
        parts.append(f'<line class="{"base" if tick == 0 else "rule"}" x2="100%" y1="{y}" y2="{y}"/>')
    parts += _steps(chart, top, across) if chart.before else _bars(chart, top, across)
    parts += _marks(chart, across)
    if chart.is_empty:
        words = escape(chart.missing or _("No samples in this time."))
        parts.append(f'<text class="nothing" x="50%" y="{LOW // 2}" text-anchor="middle">{words}</text>')
    step = scale.round_step(high - low, 6)
    value = low
    while value <= high + 1e-9:
        anchor = "start" if value == low else "end" if across(value) > 98 else "middle"
        parts.append(
            f'<text class="time" x="{across(value):.2f}%" y="{LOW + 16}" text-anchor="{anchor}">{percent(value)}</text>'
        )
        value += step
    parts += (
        f'<text class="amount" x="-6" y="{round(LOW * (1 - tick / top)) + 4}" text-anchor="end">{percent(tick)}</text>'
        for tick in ticks
    )
    return "".join(parts)


def _bars(chart: Distribution, top: float, across: Callable[[float], float]) -> list[str]:
    parts = []
    marks = sorted(chart.marks)
    for bar in chart.bars:
        if not bar.share:
            continue
        # Half a per cent of the time must still be seen, so no bar is lower than a line.
        height = max(round(LOW * bar.share / top, 1), 1.5)
        role = "age"
        for value, its_role, _name in marks:
            if bar.low >= value - 1e-9:
                role = its_role
        width = max(across(bar.high) - across(bar.low) - 0.3, 0.3)
        title = escape(f"{percent(bar.low)} – {percent(bar.high)}: {percent(bar.share)}")
        parts.append(
            f'<rect class="bar c-{role}" x="{across(bar.low):.2f}%" width="{width:.2f}%" '
            f'y="{LOW - height:g}" height="{height:g}"><title>{title}</title></rect>'
        )
    return parts


def cumulated(bars: Sequence[Bar]) -> list[tuple[float, float]]:
    """(value, share of the time at or below it), from the lower end of the first cell on."""
    found = [(bars[0].low, 0.0)] if bars else []
    total = 0.0
    for bar in bars:
        total += bar.share
        found.append((bar.high, min(total, 1.0)))
    return found


def _steps(chart: Distribution, top: float, across: Callable[[float], float]) -> list[str]:
    def path(bars: Sequence[Bar]) -> str:
        places = [
            (round(across(value) / 100 * _COLUMNS), round(_ROWS * (1 - share / top)))
            for value, share in cumulated(bars)
        ]
        return "M" + "L".join(f"{x} {y}" for x, y in places)

    return [
        f'<svg class="lines" width="100%" height="{LOW}" viewBox="0 0 {_COLUMNS} {_ROWS}" preserveAspectRatio="none">'
        f'<path class="line dashed c-past" d="{path(chart.before)}"/>'
        f'<path class="line c-age" d="{path(chart.bars)}"/></svg>'
    ]


def _marks(chart: Distribution, across: Callable[[float], float]) -> list[str]:
    parts = []
    marks = sorted(chart.marks)
    for i, (value, role, name) in enumerate(marks):
        x = f"{across(value):.2f}%"
        style = "long" if i == 0 and len(marks) > 1 else "solid"
        parts.append(
            f'<line class="limit {style} c-{role}" x1="{x}" x2="{x}" y1="0" y2="{LOW}"/>'
            f'<text class="name c-{role}" x="{x}" dx="-5" y="{10 + 13 * i}" text-anchor="end">{escape(name)}</text>'
        )
    return parts
