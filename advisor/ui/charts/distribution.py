"""A distribution as SVG: how much of the time a value was where."""

from __future__ import annotations

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from advisor.ui.charts import scale
from advisor.ui.charts.chart import Distribution
from advisor.ui.charts.svg import LOW
from advisor.ui.quantities import percent


def render(chart: Distribution) -> SafeString:
    """Bars over the value's range; marks are vertical lines with their names at the top."""
    low = min((bar.low for bar in chart.bars), default=0.0)
    high = max((bar.high for bar in chart.bars), default=1.0)
    ticks = scale.amount_ticks(max((bar.share for bar in chart.bars), default=0) or 1, 3)
    top = ticks[-1]

    def across(value: float) -> float:
        return 100 * (value - low) / ((high - low) or 1)

    parts = [f'<rect class="ground" width="100%" height="{LOW}"/>']
    for tick in ticks:
        y = round(LOW * (1 - tick / top)) + 0.5
        parts.append(f'<line class="{"base" if tick == 0 else "rule"}" x2="100%" y1="{y}" y2="{y}"/>')
    danger = sorted(chart.marks)
    for bar in chart.bars:
        if not bar.share:
            continue
        # Half a per cent of the time must still be seen, so no bar is lower than a line.
        height = max(round(LOW * bar.share / top, 1), 1.5)
        role = "age"
        for value, its_role, _name in danger:
            if bar.low >= value - 1e-9:
                role = its_role
        width = max(across(bar.high) - across(bar.low) - 0.3, 0.3)
        title = escape(f"{percent(bar.low)} – {percent(bar.high)}: {percent(bar.share)}")
        parts.append(
            f'<rect class="bar c-{role}" x="{across(bar.low):.2f}%" width="{width:.2f}%" '
            f'y="{LOW - height:g}" height="{height:g}"><title>{title}</title></rect>'
        )
    for i, (value, role, name) in enumerate(danger):
        x = f"{across(value):.2f}%"
        style = "long" if i == 0 and len(danger) > 1 else "solid"
        parts.append(
            f'<line class="limit {style} c-{role}" x1="{x}" x2="{x}" y1="0" y2="{LOW}"/>'
            f'<text class="name c-{role}" x="{x}" dx="-5" y="{10 + 13 * i}" text-anchor="end">{escape(name)}</text>'
        )
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
    amounts = "".join(
        f'<text class="amount" x="-6" y="{round(LOW * (1 - tick / top)) + 4}" text-anchor="end">{percent(tick)}</text>'
        for tick in ticks
    )
    words = escape(chart.sentence or chart.title)
    return mark_safe(  # noqa: S308 -- numbers of ours and escaped words only
        f'<svg class="chart" height="{LOW}" width="100%" role="img" aria-label="{words}">'
        f"{amounts}{''.join(parts)}</svg>"
    )
