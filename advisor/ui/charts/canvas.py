"""The stretched inner drawing of a chart: from times and values to whole units of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from advisor.ui.charts import paths, scale
from advisor.ui.charts.chart import Chart, Point

TALL, LOW = 190, 124


class Canvas:
    """Enough whole units that no step is seen, however wide the card is."""

    def __init__(self, chart: Chart) -> None:
        self.height = TALL if chart.tall else LOW
        self.columns, self.rows = (1600, 1000) if chart.tall else (800, 500)
        self.started, self.span = chart.started, max(chart.ended - chart.started, 1)
        self.ticks = ticks(chart)
        self.top = self.ticks[-1] or 1
        self.second_ticks = second_ticks(chart)
        #: What a value of the second scale is on the first one.
        self.second_factor = self.top / (self.second_ticks[-1] or 1) if self.second_ticks else 1.0
        self._across, self._down = self.columns / self.span, self.rows / self.top

    def column(self, at: float) -> int:
        return round((at - self.started) * self._across)

    def row(self, value: float) -> int:
        return round(self.rows - min(max(value * self._down, 0), self.rows))

    def share(self, at: float) -> str:
        """A time as a percentage of the width."""
        return f"{100 * (at - self.started) / self.span:.2f}%"

    def pixel(self, value: float) -> float:
        """A value as pixels from the top of the plot."""
        return self.height * (1 - min(max(value / self.top, 0), 1))

    def places(self, points: Sequence[Point], which: int) -> list[paths.Place | None]:
        """Where the least (1), greatest (2) or last (3) values stand. Written out, since a page has some thousand."""
        begun, rows, across, down = self.started, self.rows, self._across, self._down
        return [
            None
            if point is None
            else (
                round((point[0] - begun) * across),
                round(rows - (height if 0 <= (height := point[which] * down) <= rows else 0 if height < 0 else rows)),
            )
            for point in points
        ]


def ticks(chart: Chart) -> list[float]:
    """The values at which the axis has its rules, from zero to the top."""
    found = scale.amount_ticks(_top(chart), 4 if chart.tall else 3, chart.axis.base)
    if chart.axis.at_most is not None and found[-1] > chart.axis.at_most:
        found = [tick for tick in found if tick <= chart.axis.at_most]
    return found


def second_ticks(chart: Chart) -> list[float]:
    """The values that the second scale names, from zero to the same top; empty where there is none."""
    if chart.second is None:
        return []
    greatest = _greatest((point for trace in chart.second.traces for point in trace.points), 2)
    return scale.amount_ticks(max(greatest, chart.second.axis.at_least) or 1, 3, chart.second.axis.base)


def _top(chart: Chart) -> float:
    """What the axis has to reach: the greatest value drawn, and as much as the axis wants to show anyhow."""
    if chart.stacked:
        sums = (
            sum(point[3] for point in column if point is not None)
            for column in zip(*(trace.points for trace in chart.traces), strict=False)
        )
        greatest = max(sums, default=0.0)
    else:
        greatest = _greatest((point for trace in chart.traces for point in trace.points), 2)
    greatest = max(greatest, _greatest((point for trace in chart.past for point in trace.points), 3))
    top = max(greatest, chart.axis.at_least)
    if chart.axis.at_most is not None:
        top = min(top, chart.axis.at_most)
    return top if top > 0 else 1


def _greatest(points: Iterable[Point], which: int) -> float:
    return max((point[which] for point in points if point is not None), default=0.0)
