"""Drawings for table cells: a sparkline, and the pressure bar with its two limits."""

from __future__ import annotations

from collections.abc import Sequence

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from advisor.ui.charts import paths
from advisor.ui.charts.chart import Bullet

_WIDTH, _HEIGHT = 112, 24
#: Where 1.0 (the point at which writers wait) stands on the pressure bar; the rest is for what goes beyond it.
_FULL = 0.9


def sparkline(values: Sequence[float | None], words: str = "") -> SafeString:
    """A line over at most 48 values, oldest first, None for a gap. From zero, so that a fall looks as deep as it is."""
    known = [value for value in values if value is not None]
    top = max(known, default=0) or 1
    last = max(len(values) - 1, 1)
    places = [
        None if value is None else (round(i / last * _WIDTH * 4), round((1 - value / top) * (_HEIGHT - 4) * 4) + 8)
        for i, value in enumerate(values)
    ]
    d = "".join(paths.polyline(run) for run in paths.runs(places))
    return mark_safe(  # noqa: S308 -- numbers of ours and escaped words only
        f'<svg class="sparkline" role="img" width="{_WIDTH}" height="{_HEIGHT}" '
        f'viewBox="0 0 {_WIDTH * 4} {_HEIGHT * 4}" '
        f'aria-label="{escape(words)}">' + (f'<path class="line c-second" d="{d}"/>' if d else "") + "</svg>"
    )


def pressure_bar(pressure: float, async_ratio: float | None, words: str = "") -> SafeString:
    """The age as a share of this server's own point, with a tick where adaptive flushing is at its full rate (amber)
    and one where writers wait (red)."""
    length = min(max(pressure, 0), 1 / _FULL) * _FULL * 100
    role = "sync" if pressure >= 1 else "async" if async_ratio is not None and pressure >= async_ratio else "age"
    ticks = f'<line class="tick c-sync" x1="{_FULL * 100:g}" x2="{_FULL * 100:g}" y1="0" y2="12"/>'
    if async_ratio is not None and 0 < async_ratio <= 1:
        x = f"{async_ratio * _FULL * 100:.1f}"
        ticks += f'<line class="tick c-async" x1="{x}" x2="{x}" y1="0" y2="12"/>'
    return mark_safe(  # noqa: S308 -- numbers of ours and escaped words only
        f'<svg class="pressure" width="124" height="12" viewBox="0 0 100 12" preserveAspectRatio="none" role="img" '
        f'aria-label="{escape(words)}"><rect class="track" y="3" width="100" height="6" rx="2"/>'
        f'<rect class="bar c-{role}" y="3" width="{length:.1f}" height="6" rx="2"/>{ticks}</svg>'
    )


def bullet(found: Bullet, words: str = "") -> SafeString:
    """90 by 12 pixels: grey where the value mostly is, a black tick where it is now, and its two limits."""
    reach = max(1.1, found.now, *(value for value, _role in found.limits))

    def x(value: float) -> str:
        return f"{90 * min(max(value / reach, 0.0), 1.0):.1f}"

    limits = "".join(
        f'<line class="tick c-{role}" x1="{x(value)}" x2="{x(value)}" y1="0" y2="12"/>' for value, role in found.limits
    )
    usual = max(float(x(found.high)) - float(x(found.low)), 1.0)
    return mark_safe(  # noqa: S308 -- numbers of ours and escaped words only
        f'<svg class="bullet" width="90" height="12" viewBox="0 0 90 12" role="img" aria-label="{escape(words)}">'
        f"<title>{escape(words)}</title>"
        f'<rect class="track" y="3" width="90" height="6"/><rect class="usual" x="{x(found.low)}" y="3" '
        f'width="{usual:.1f}" height="6"/>{limits}'
        f'<line class="tick now" x1="{x(found.now)}" x2="{x(found.now)}" y1="1" y2="11"/></svg>'
    )
