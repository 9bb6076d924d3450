"""A chart as an SVG file of its own: the page's drawing with its colours written into it, for tickets and documents.

A file has no style sheet, and one inside it would be refused by strict policies where the file is shown: so each class
of the drawing becomes the attributes that it stands for, in the colours of the light scheme.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, tzinfo

from django.utils.html import escape

from advisor.ui.charts import distribution, svg
from advisor.ui.charts.canvas import LOW, TALL
from advisor.ui.charts.chart import Chart, Distribution

WIDTH = 960
_LEFT, _TOP, _BELOW = 72, 64, 34
#: The light scheme of the style sheet; a test holds both against each other.
COLOURS = {
    "age": "#0072b2", "async": "#c98500", "sync": "#9b2226", "hard": "#374151", "good": "#009e73", "second": "#b0578d",
    "past": "#6b7280", "ground": "#ffffff", "hairline": "#e2e6ea", "edge": "#8a94a0", "text": "#1a212b",
    "quiet": "#5b6572", "async-text": "#8f5e00", "good-text": "#007354",
}  # fmt: skip
_CLASS = re.compile(r' class="([^"]*)"')
_STILL = ' vector-effect="non-scaling-stroke"'


def chart_file(chart: Chart, keys: Sequence[tuple[str, str, str]], head: str, zone: tzinfo) -> str:
    """``head`` says whose chart it is, ``keys`` are the legend's (role, kind, name)."""
    right = 72 if chart.right is not None else 20
    begun, ended = (datetime.fromtimestamp(one / 1000, zone) for one in (chart.started, chart.ended))
    span = f"{begun:%Y-%m-%d %H:%M:%S} – {ended:%Y-%m-%d %H:%M:%S %Z}"
    caption = " · ".join(part for part in (chart.caption, span, chart.right.title if chart.right else "") if part)
    return _file(
        TALL if chart.tall else LOW, right, f"{head} · {chart.title}", caption, keys, svg.inner(chart, zone),
        chart.sentence,
    )  # fmt: skip


def distribution_file(chart: Distribution, keys: Sequence[tuple[str, str, str]], head: str) -> str:
    """The distribution, with its figures in words below the title."""
    title = f"{head} · {chart.title}"
    return _file(LOW, 20, title, chart.caption, keys, distribution.inner(chart), chart.sentence)


def _file(
    height: int, right: int, title: str, caption: str, keys: Sequence[tuple[str, str, str]], inner: str, sentence: str
) -> str:
    width, whole = WIDTH - _LEFT - right, _TOP + height + _BELOW
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{whole}" viewBox="0 0 {WIDTH} {whole}" '
        f'font-family="system-ui, DejaVu Sans, Noto Sans CJK KR, sans-serif" font-size="11">',
        f"<title>{escape(title)}</title><desc>{escape(sentence)}</desc>",
        f'<rect width="{WIDTH}" height="{whole}" fill="{COLOURS["ground"]}"/>',
        f'<text x="{_LEFT}" y="20" font-size="14" font-weight="700" fill="{COLOURS["text"]}">{escape(title)}</text>',
        f'<text x="{_LEFT}" y="36" fill="{COLOURS["quiet"]}">{escape(caption)}</text>',
        *_legend(keys),
        f'<svg x="{_LEFT}" y="{_TOP}" width="{width}" height="{height}" overflow="visible">',
        _CLASS.sub(lambda match: _attributes(match[1].split()), inner),
        "</svg></svg>\n",
    ]
    return "".join(parts)


def _legend(keys: Sequence[tuple[str, str, str]]) -> list[str]:
    parts, x = [], _LEFT
    for role, kind, name in keys:
        colour = COLOURS[role]
        if kind == "block":
            parts.append(f'<rect x="{x}" y="43" width="14" height="8" fill="{colour}" fill-opacity="0.75"/>')
        else:
            dash = ' stroke-dasharray="5 3"' if kind == "dashed" else ""
            parts.append(f'<path d="M{x} 47h14" stroke="{colour}" stroke-width="2"{dash}/>')
        parts.append(f'<text x="{x + 19}" y="51" fill="{COLOURS["quiet"]}">{escape(name)}</text>')
        # Names have no measured width here: seven pixels a letter is wide enough for all scripts but the widest.
        x += 36 + sum(12 if ord(letter) > 0x2E80 else 7 for letter in name)
    return parts


def _attributes(classes: Sequence[str]) -> str:
    role = next((one[2:] for one in classes if one.startswith("c-")), "")
    colour = COLOURS.get(role, COLOURS["quiet"])
    kind = set(classes)
    if kind & {"fill", "band", "stack", "excess"}:
        opacity = 0.12 if "fill" in kind else 0.3
        return f' fill="{colour}" fill-opacity="{opacity}"'
    if "line" in kind or "limit" in kind:
        thin = bool(kind & {"thin", "fine"})
        dash = next((dash for name, dash in _DASHES.items() if name in kind), "")
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        return f' fill="none" stroke="{colour}" stroke-width="{1 if thin else 1.5}"{dashes}{_STILL}'
    if "name" in kind:
        text = COLOURS.get(f"{role}-text", colour)
        return f' fill="{text}" stroke="{COLOURS["ground"]}" stroke-width="3" paint-order="stroke"'
    return _PLAIN.get(next(iter(classes), ""), "") or (f' fill="{colour}" fill-opacity="0.75"' if "bar" in kind else "")


_DASHES = {"dashed": "5 3", "long": "8 4", "dotted": "2 3", "fine": "4 4"}
_PLAIN = {
    "ground": ' fill="none"',
    "rule": f' stroke="{COLOURS["hairline"]}"',
    "base": f' stroke="{COLOURS["edge"]}" stroke-opacity="0.55"',
    "gap": f' fill="{COLOURS["past"]}" fill-opacity="0.13"',
    "amount": f' fill="{COLOURS["quiet"]}"',
    "time": f' fill="{COLOURS["quiet"]}"',
    "nothing": f' fill="{COLOURS["quiet"]}" font-size="13"',
    "happening": f' stroke="{COLOURS["past"]}" stroke-dasharray="3 3" fill="{COLOURS["quiet"]}"',
    "lines": ' overflow="hidden"',
}
