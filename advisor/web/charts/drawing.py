"""The six charts as the template shows them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _

from advisor.ui import quantities
from advisor.ui.charts import distribution, small, svg
from advisor.ui.charts.chart import Chart, Distribution
from advisor.ui.charts.figure import table, table_body
from advisor.web.server_charts import ServerCharts

#: Role, kind of the line (line, dashed, block) and name of one entry of a legend.
Key = tuple[str, str, str]


@dataclass(frozen=True)
class Drawing:
    """One chart as the template shows it: its words, its SVG, and the rows of its table."""

    id: str
    title: str
    caption: str
    sentence: str
    svg: str
    keys: list[Key] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    rows: str = ""  # markup
    figures: Sequence[tuple[str, str]] = ()
    bars: Sequence[Any] = ()
    notes: Sequence[str] = ()
    right: str = ""
    bullet: str = ""
    over_time: bool = False
    started: float = 0.0  # unix milliseconds, as ``ended``
    ended: float = 0.0


def drawings(charts: ServerCharts) -> list[Drawing]:
    """The six figures in the order of the page."""
    shown = [_over_time(chart) for chart in charts.over_time]
    # The distribution belongs beside the course that it is of.
    shown.insert(1, _spread(charts.occupancy))
    return shown


def _over_time(chart: Chart) -> Drawing:
    zone = timezone.get_current_timezone()
    names, rows = table(chart)
    return Drawing(
        chart.id,
        chart.title,
        chart.caption,
        chart.sentence,
        svg.render(chart, zone),
        keys(chart),
        names,
        table_body(rows, zone),
        notes=chart.notes,
        right=chart.second.title if chart.second is not None else chart.right.title if chart.right is not None else "",
        over_time=True,
        started=chart.started,
        ended=chart.ended,
    )


def keys(chart: Chart) -> list[Key]:
    """What the lines are; nothing where there is but one, which the title names."""
    found: list[Key] = [
        (trace.role, "block" if chart.stacked else "dashed" if trace.dashed else "line", trace.name)
        for trace in chart.traces
        if any(trace.points)
    ]
    if chart.second is not None:
        unit = chart.second.unit
        found += [(one.role, "dashed" if one.dashed else "line", f"{one.name}, {unit}") for one in chart.second.traces]
    if chart.excess is not None and any(chart.excess.above):
        found.append((chart.excess.role, "block", chart.excess.name))
    found += [(trace.role, "dashed", trace.name) for trace in chart.past]
    return found if len(found) > 1 else []


def spread_keys(chart: Distribution) -> list[Key]:
    """What the two lines are where the distribution of another time is drawn beside this one."""
    return [("age", "line", _("this time")), ("past", "dashed", chart.before_name)] if chart.before else []


def _spread(chart: Distribution) -> Drawing:
    bullet = ""
    if chart.bullet is not None:
        words = _("now %(now)s, mostly between %(low)s and %(high)s") % {
            "now": quantities.percent(chart.bullet.now),
            "low": quantities.percent(chart.bullet.low),
            "high": quantities.percent(chart.bullet.high),
        }
        bullet = small.bullet(chart.bullet, words)
    return Drawing(
        chart.id,
        chart.title,
        chart.caption,
        chart.sentence,
        distribution.render(chart),
        spread_keys(chart),
        figures=chart.figures,
        bars=[bar for bar in chart.bars if bar.share],
        bullet=bullet,
    )
