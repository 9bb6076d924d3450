"""A factor with its interval as a small drawing: a dot and a whisker on an axis of powers of two, 1 in the middle."""

from __future__ import annotations

import math

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

_WIDTH, _HEIGHT = 120, 16
#: What lies beyond sixteenfold stands at the end of the axis, as an arrow.
_MOST = 4.0


def _place(factor: float) -> float:
    return round(_WIDTH / 2 + max(-_MOST, min(_MOST, math.log2(factor))) / _MOST * (_WIDTH / 2 - 6), 1)


def whisker(
    ratio: float | None, low: float | None, high: float | None, *, grew: bool, unusual: bool, words: str
) -> str:
    """``ratio`` None is a change from or to nothing, which has no factor: an arrow at the end where it ``grew`` to."""
    role = "c-sync" if unusual else "c-past"
    middle = _WIDTH / 2
    beyond = ratio is None or ratio <= 0 or abs(math.log2(ratio)) > _MOST
    parts = [f'<line class="axis" x1="0" x2="{_WIDTH}" y1="8" y2="8"/>']
    parts.append(f'<line class="one" x1="{middle:g}" x2="{middle:g}" y1="1" y2="15"/>')
    if beyond:
        tip, back = (_WIDTH - 1, _WIDTH - 8) if grew else (1, 8)
        parts.append(f'<path class="dot" d="M{tip} 8L{back} 4V12z"/>')
    else:
        if low is not None and high is not None and low > 0:
            parts.append(f'<line class="reach" x1="{_place(low)}" x2="{_place(high)}" y1="8" y2="8"/>')
        parts.append(f'<circle class="dot" cx="{_place(ratio or 1)}" cy="8" r="3.5"/>')
    drawing: SafeString = mark_safe(  # noqa: S308 -- numbers of ours and escaped words only
        f'<svg class="whisker {role}" role="img" width="{_WIDTH}" height="{_HEIGHT}" '
        f'viewBox="0 0 {_WIDTH} {_HEIGHT}" aria-label="{escape(words)}">{"".join(parts)}</svg>'
    )
    return drawing
