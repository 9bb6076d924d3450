"""A chart over time as SVG.

Text keeps its size at every width: the outer drawing is as wide as its card, labels stand at percentages of it, and
only the lines lie in an inner drawing that is stretched. The axis' labels stand outside of it, in margins that the
style sheet keeps. Colours are classes, so that light, dark and print share one drawing.
"""

from __future__ import annotations

from datetime import tzinfo

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from advisor.ui.charts import lines, scale
from advisor.ui.charts.canvas import LOW, TALL, Canvas, ticks
from advisor.ui.charts.chart import Chart, Limit

__all__ = ["LOW", "TALL", "inner", "limit_labels", "limit_text", "render", "ticks"]

#: Labels of two lines that are closer than this would run into each other, in pixels.
_LABEL_DISTANCE = 13
#: Where labels begin: those of the points that act stand in a second column, at least so far right of the reported
#: ones, and further where these are long (pixels, pixels a letter).
_FIRST_COLUMN, _SECOND_COLUMN, _LETTER = 6, 190, 6.6
#: A limit that moved by less than this share kept its place on the screen.
_MOVED = 0.004


def render(chart: Chart, zone: tzinfo) -> SafeString:
    """The drawing for a page, its size left to the style sheet."""
    canvas = Canvas(chart)
    words = escape(chart.sentence or chart.title)
    kind = "chart two-axes" if chart.right is not None or chart.second is not None else "chart"
    return mark_safe(  # noqa: S308 -- numbers of ours and escaped words only
        f'<svg class="{kind}" height="{canvas.height}" width="100%" role="img" aria-label="{words}">'
        f"{inner(chart, zone, canvas)}</svg>{_lane(canvas, chart)}"
    )


def inner(chart: Chart, zone: tzinfo, canvas: Canvas | None = None) -> str:
    """What stands in the drawing. All words in it are escaped here: names of variables come from servers."""
    canvas = canvas or Canvas(chart)
    parts = [_amounts(canvas, chart), _grid(canvas)]
    parts += [_gap(canvas, gap) for gap in chart.gaps]
    parts.append(lines.render(canvas, chart))
    parts += [
        f'<text class="name{" fine" if x > _FIRST_COLUMN else ""} c-{role}" x="{x}" y="{y}">{escape(text)}</text>'
        for x, y, role, text in limit_labels(canvas, chart)
    ]
    parts += [_happening(canvas, happening.at, happening.letter, happening.text) for happening in chart.happenings]
    if chart.is_empty:
        words = escape(chart.missing or _("No samples in this time."))
        parts.append(f'<text class="nothing" x="50%" y="{canvas.height // 2}" text-anchor="middle">{words}</text>')
    parts += _times(canvas, chart, zone)
    return "".join(parts)


def _grid(canvas: Canvas) -> str:
    rules = (
        f'<line class="{"base" if tick == 0 else "rule"}" x2="100%" y1="{y}" y2="{y}"/>'
        for tick in canvas.ticks
        for y in [round(canvas.pixel(tick)) + 0.5]
    )
    return f'<rect class="ground" width="100%" height="{canvas.height}"/>' + "".join(rules)


def _amounts(canvas: Canvas, chart: Chart) -> str:
    left = "".join(
        f'<text class="amount" x="-6" y="{round(canvas.pixel(tick)) + 4}" text-anchor="end">'
        f"{escape(chart.axis.label(tick))}</text>"
        for tick in canvas.ticks
    )
    right = right_marks(canvas, chart)
    return left + "".join(
        f'<text class="amount" x="100%" dx="6" y="{round(canvas.pixel(value)) + 4}">{escape(words)}</text>'
        for value, words in right
        if value <= canvas.top
    )


def right_marks(canvas: Canvas, chart: Chart) -> list[tuple[float, str]]:
    """What stands at the right: values of the left axis, and what they are called there."""
    if chart.second is not None:
        label = chart.second.axis.label
        return [(tick * canvas.second_factor, label(tick)) for tick in canvas.second_ticks]
    return list(chart.right.marks) if chart.right is not None else []


def _times(canvas: Canvas, chart: Chart, zone: tzinfo) -> list[str]:
    """Fewer labels where a narrow card would run them into each other: style sheets hide the odd ones there."""
    labels = []
    for i, (at, text) in enumerate(scale.time_ticks(chart.started, chart.ended, zone, 8 if chart.tall else 6)):
        share = (at - chart.started) / canvas.span
        anchor = "start" if share < 0.02 else "end" if share > 0.98 else "middle"
        kind = "time odd" if i % 2 else "time"
        labels.append(
            f'<text class="{kind}" x="{canvas.share(at)}" y="{canvas.height + 16}" text-anchor="{anchor}">{text}</text>'
        )
    return labels


def limit_text(chart: Chart, limit: Limit) -> str:
    """A limit's name and its value; where it moved in this time, the value that it had and the one it has."""
    first = next((point[1] for point in limit.points if point is not None), 0.0)
    newest = limit.newest or 0.0
    if abs(first - newest) > _MOVED * max(first, newest):
        return f"{limit.name} {chart.axis.label(first)} → {chart.axis.label(newest)}"
    return f"{limit.name} {chart.axis.label(newest)}"


def limit_labels(canvas: Canvas, chart: Chart) -> list[tuple[int, int, str, str]]:
    """(x and y in pixels of the plot, role, text): names at the left end of their lines. What is above the axis is
    named at its top, with an arrow.
    """
    limits = [limit for limit in chart.limits if limit.newest is not None]
    labels = []
    column = _FIRST_COLUMN
    for fine in (False, True):
        found = []
        for limit in limits:
            if (limit.style == "fine" and len(limits) > 1) is not fine:
                continue
            first = next((point[1] for point in limit.points if point is not None), 0.0)
            text = limit_text(chart, limit) + (" ↑" if first > canvas.top else "")
            found.append((canvas.pixel(first) - 4, text, limit.role))
        found.sort(key=lambda one: one[0])
        places = scale.spread([one[0] for one in found], _LABEL_DISTANCE, 9, canvas.height - 4)
        labels += [
            (column, round(place), role, text) for place, (_wanted, text, role) in zip(places, found, strict=True)
        ]
        longest = max((len(text) for _wanted, text, _role in found), default=0)
        column = max(_SECOND_COLUMN, round(_FIRST_COLUMN + _LETTER * longest) + 12)
    return labels


def _happening(canvas: Canvas, at: float, letter: str, text: str) -> str:
    x = canvas.share(at)
    return (
        f'<g class="happening"><title>{escape(text)}</title><line x1="{x}" x2="{x}" y1="0" y2="{canvas.height}"/>'
        f'<text x="{x}" y="-2" text-anchor="middle">{escape(letter)}</text></g>'
    )


def _lane(canvas: Canvas, chart: Chart) -> str:
    """The letters again as links, in a drawing of their own: an image holds nothing that can be clicked."""
    links = "".join(
        f'<a href="{escape(one.href)}" aria-label="{escape(one.text)}" class="{"filled" if one.filled else "own"}">'
        f"<title>{escape(one.text)}</title>"
        f'<rect class="reach" x="{canvas.share(one.at)}" width="28" height="24" transform="translate(-14 0)"/>'
        f'<rect class="glyph" x="{canvas.share(one.at)}" y="4" width="{width}" height="16" rx="4" '
        f'transform="translate({-width / 2:g} 0)"/>'
        f'<text x="{canvas.share(one.at)}" y="16" text-anchor="middle">{escape(one.letter)}</text></a>'
        for one in chart.happenings
        if one.href
        for width in [11 + 7 * len(one.letter)]
    )
    words = escape(_("Events"))
    return (
        f'<svg class="lane" width="100%" height="24" role="group" aria-label="{words}">{links}</svg>' if links else ""
    )


def _gap(canvas: Canvas, gap: tuple[float, float, str]) -> str:
    started, ended = max(gap[0], canvas.started), min(gap[1], canvas.started + canvas.span)
    if ended <= started:
        return ""
    width = f"{100 * (ended - started) / canvas.span:.2f}%"
    return (
        f'<rect class="gap" x="{canvas.share(started)}" width="{width}" height="{canvas.height}">'
        f"<title>{escape(gap[2])}</title></rect>"
    )
