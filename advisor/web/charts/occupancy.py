"""How much of the time the redo pressure was where."""

from __future__ import annotations

from django.utils.translation import gettext as _

from advisor.engine.statistics import weighted_percentile
from advisor.mysql import series
from advisor.ui import quantities
from advisor.ui.charts.chart import Bar, Bullet, Distribution
from advisor.web.charts.history import Frame, History, async_ratio, point_name
from collector.store.condense import AT_LIMIT_PRESSURE
from collector.store.interface import PressureTimes

NAMES = (series.PRESSURE, series.EFFECTIVE_ASYNC_POINT, series.EFFECTIVE_SYNC_POINT)
#: The cells in which the history counts the pressure, and how many bars are drawn at least: to a little beyond 1.
_BAR_WIDTH = 0.05
_BARS = 22


def distribution(
    history: History, times: PressureTimes, frame: Frame, before: PressureTimes | None = None, before_name: str = ""
) -> tuple[Distribution, float | None]:
    """The distribution in the cells in which the history counts it, and the pressure that 95 % of the time was below.

    With the times of another range both are drawn as shares of time at or below a pressure.
    """
    title = _("Occupancy")
    caption = _("%% of the time by pressure, age ÷ %(point)s") % {"point": point_name(frame.snapshot)}
    ratio = async_ratio(history)
    marks = [(1.0, "sync", point_name(frame.snapshot))]
    if ratio is not None:
        marks.insert(0, (ratio, "async", _("async point")))
    compared = before is not None and before.seconds > 0 and times.seconds > 0
    cells = max(_BARS, _reach(times), _reach(before) if before is not None and compared else 0)
    bars = _bars(times, cells)
    earlier = _bars(before, cells) if before is not None and compared else ()
    if earlier:
        caption = _("%% of the time at or below a pressure, age ÷ %(point)s") % {"point": point_name(frame.snapshot)}
    total = times.seconds
    most = history.greatest(series.PRESSURE)
    if not total or most is None:
        words = _("No pressure in this time.")
        return Distribution("occupancy", title, caption, bars, marks, sentence=words), None
    p5, p50, p95 = _percentiles(times, ratio, most)
    figures = [
        (_("median"), quantities.percent(p50)),
        (_("95 %% below") % {}, quantities.percent(p95)),
        (_("max"), quantities.percent(most)),
    ]
    if ratio is not None:
        figures.append((_("above async"), _share_of_time(times.above_async_seconds / total)))
    figures.append((_("writers wait"), _share_of_time(times.at_limit_seconds / total)))
    sentence = ", ".join(f"{name} {value}" for name, value in figures)
    now = history.last(series.PRESSURE)
    bullet = Bullet(p5, p95, now, tuple((value, role) for value, role, _name in marks)) if now is not None else None
    found = Distribution(
        "occupancy", title, caption, bars, marks, tuple(figures), sentence, before=earlier, before_name=before_name,
        bullet=bullet,
    )  # fmt: skip
    return found, p95


def _reach(times: PressureTimes) -> int:
    """One cell more than the highest that holds any time."""
    return 2 + max((cell for cell, seconds in enumerate(times.histogram) if seconds), default=0)


def _bars(times: PressureTimes, cells: int) -> tuple[Bar, ...]:
    total = times.seconds
    shares = [seconds / total if total else 0.0 for seconds in times.histogram[:cells]]
    return tuple(
        Bar(round(cell * _BAR_WIDTH, 4), round((cell + 1) * _BAR_WIDTH, 4), share) for cell, share in enumerate(shares)
    )


def _percentiles(times: PressureTimes, ratio: float | None, most: float) -> tuple[float, ...]:
    """The 5th, 50th and 95th. A histogram tells them to half a cell, while the time above a point is exact: together
    they must not disagree.
    """
    above = [(times.above_async_seconds, ratio or 0.0), (times.at_limit_seconds, AT_LIMIT_PRESSURE)]
    return tuple(
        min(
            max(
                weighted_percentile(times.histogram, _BAR_WIDTH, share),
                *_reached(above, (1 - share) * times.seconds),
            ),
            most,
        )
        for share in (0.05, 0.5, 0.95)
    )


def _reached(above: list[tuple[float, float]], seconds: float) -> list[float]:
    """The levels that the pressure was at or above for longer than so many seconds, and 0."""
    return [0.0, *(level for spent, level in above if spent > seconds)]


def _share_of_time(share: float) -> str:
    return _("%(share)s of time") % {"share": quantities.percent(share)}
