"""The six charts of the server page, out of one read of the sample history and the newest snapshot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
from django.utils.translation import gettext as _

from advisor.engine.statistics import weighted_percentile
from advisor.mysql import counters, redo, series
from advisor.mysql.snapshot import Snapshot
from advisor.ui import quantities
from advisor.ui.charts.chart import Axis, Bar, Chart, Distribution, Happening, Limit, Point, Trace
from advisor.ui.period import Period
from collector.store.condense import AT_LIMIT_PRESSURE
from collector.store.interface import Buckets, PressureTimes, RecordedGap

MIB = 1024 * 1024
#: Points of each series: more than a card has pixels is not seen, fewer hides short peaks less well than min and max
#: do.
POINTS, POINTS_TALL = 300, 600
_PERCENT = 100.0
#: The cells in which the history counts the pressure, and how many bars are drawn at least: to a little beyond 1.
_BAR_WIDTH = 0.05
_BARS = 22

_FLUSHED = "Innodb_buffer_pool_pages_flushed"
#: Colour and name of each reason that pages are flushed for, from the bottom of the stack to its top.
_REASONS = (
    ("adaptive", "good"),
    ("background", "age"),
    ("neighbor", "past"),
    ("lru", "second"),
    ("sync", "sync"),
)

NAMES: tuple[str, ...] = (
    series.CHECKPOINT_AGE,
    series.ASYNC_POINT,
    series.SYNC_POINT,
    series.MAXIMUM_AGE,
    series.EFFECTIVE_ASYNC_POINT,
    series.EFFECTIVE_SYNC_POINT,
    series.PRESSURE,
    series.LSN,
    series.CHECKPOINT_LSN,
    series.CAPACITY,
    series.TRANSACTIONS,
    series.TRANSACTIONS_METHOD,
    series.DIRTY_PERCENT,
    series.LIMITS_REPORTED,
    _FLUSHED,
    *counters.FLUSHED_BY_REASON.values(),
)


@dataclass(frozen=True)
class ServerCharts:
    """What the page shows: five charts over time, and the distribution of the pressure with its figures."""

    over_time: tuple[Chart, ...]
    occupancy: Distribution
    pressure_p95: float | None

    def chart(self, chart_id: str) -> Chart | None:
        return next((chart for chart in self.over_time if chart.id == chart_id), None)


class _History:
    """The buckets, with what the charts ask of them."""

    def __init__(self, buckets: Buckets) -> None:
        self.buckets = buckets
        self.at = buckets.at.tolist()

    def has(self, name: str) -> bool:
        one = self.buckets.series.get(name)
        return one is not None and bool(np.isfinite(one.last).any())

    def points(self, name: str, scale: float = 1.0) -> list[Point]:
        if name not in self.buckets.series:
            return [None] * len(self.at)
        found = self.buckets.points(name)
        if scale == 1.0:
            return list(found)
        return [None if p is None else (p[0], p[1] * scale, p[2] * scale, p[3] * scale) for p in found]

    def limit(self, name: str) -> list[tuple[float, float] | None]:
        return [None if p is None else (p[0], p[3]) for p in self.points(name)]

    def level(self, value: float) -> list[tuple[float, float] | None]:
        """A setting of which only the present value is known, over the whole range."""
        return [(self.buckets.start * 1000, value), (self.buckets.end * 1000, value)]

    def last(self, name: str) -> float | None:
        if not self.has(name):
            return None
        values = self.buckets.series[name].last
        return float(values[np.isfinite(values)][-1])

    def greatest(self, name: str) -> float | None:
        if not self.has(name):
            return None
        return float(np.nanmax(self.buckets.series[name].greatest))


def build(
    buckets: Buckets,
    times: PressureTimes,
    snapshot: Snapshot | None,
    period: Period,
    gaps: Sequence[RecordedGap] = (),
    happenings: Sequence[Happening] = (),
) -> ServerCharts:
    """All six. ``snapshot`` gives the limits that are settings; without one they are left out.

    ``times`` is of the same range as ``buckets``: shares of time are told from every poll, since the buckets hold
    extremes and cannot tell how long they lasted.
    """
    history = _History(buckets)
    variables: Mapping[str, str] = snapshot.variables if snapshot is not None else {}
    frame = _Frame(
        started=period.started * 1000,
        ended=period.ended * 1000,
        gaps=tuple((gap.started_at * 1000, (gap.ended_at or period.ended) * 1000, gap.why) for gap in gaps),
        happenings=tuple(happenings),
    )
    occupancy, p95 = _occupancy(history, times, snapshot)
    return ServerCharts(
        (
            _checkpoint_age(history, times, frame, snapshot),
            _redo_rate(history, frame),
            _transactions(history, frame),
            _flushing(history, frame, variables),
            _dirty_pages(history, frame, variables),
        ),
        occupancy,
        p95,
    )


@dataclass(frozen=True)
class _Frame:
    started: float
    ended: float
    gaps: tuple[tuple[float, float, str], ...]
    happenings: tuple[Happening, ...]


def point_name(snapshot: Snapshot | None) -> str:
    """What the pressure is measured against on this server, in words."""
    if snapshot is not None and snapshot.identity.version.is_mariadb and snapshot.identity.version.number >= (10, 5, 0):
        return _("maximum age")
    return _("sync point")


def point_short(snapshot: Snapshot | None) -> str:
    """The same where there is room for a word or two."""
    return _("max age") if point_name(snapshot) == _("maximum age") else point_name(snapshot)


def _checkpoint_age(history: _History, times: PressureTimes, frame: _Frame, snapshot: Snapshot | None) -> Chart:
    limits = []
    found = (
        (series.MAXIMUM_AGE, _("maximum"), "hard", "dotted"),
        (series.SYNC_POINT, _("sync point"), "sync", "solid"),
        (series.ASYNC_POINT, _("async point"), "async", "long"),
    )
    for name, title, role, style in found:
        if history.has(name):
            if name == series.MAXIMUM_AGE and not history.has(series.SYNC_POINT):
                title, role, style = _("maximum age"), "sync", "solid"
            limits.append(Limit(title, role, style, history.limit(name)))
    # Where the points that act are other ones than those that are reported, they are drawn too, thin and dashed.
    capacity = history.last(series.CAPACITY) or 0
    acting = (
        (series.EFFECTIVE_SYNC_POINT, (series.SYNC_POINT, series.MAXIMUM_AGE), _("writers wait"), "sync"),
        (series.EFFECTIVE_ASYNC_POINT, (series.ASYNC_POINT,), _("effective async"), "async"),
    )
    for name, reported, title, role in acting:
        value = history.last(name)
        if value is None:
            continue
        others = [other for one in reported if (other := history.last(one)) is not None]
        if others and all(abs(value - other) > 0.004 * max(capacity, other) for other in others):
            limits.append(Limit(title, role, "fine", history.limit(name)))
    parts = []
    if capacity:
        parts.append(_("redo capacity %(size)s") % {"size": quantities.size(capacity)})
    origin = history.last(series.LIMITS_REPORTED)
    if origin is not None:
        parts.append(_origin_words(bool(origin), snapshot))
    top = max((limit.newest or 0 for limit in limits), default=0)
    return Chart(
        id="checkpoint-age",
        title=_("Checkpoint age"),
        caption=" · ".join(parts) or _("bytes of redo since the last checkpoint"),
        axis=Axis(quantities.size, base=1024, at_least=top),
        started=frame.started,
        ended=frame.ended,
        traces=(Trace(_("checkpoint age"), "age", history.points(series.CHECKPOINT_AGE), filled=True),),
        limits=limits,
        gaps=frame.gaps,
        happenings=frame.happenings,
        sentence=_age_sentence(history, times, snapshot),
        missing=_("The checkpoint age could not be read in this time."),
        tall=True,
    )


def _origin_words(reported: bool, snapshot: Snapshot | None) -> str:
    """Which of the lines the server itself reports, and which are computed from its settings."""
    names: list[str] = []
    if snapshot is not None:
        metrics = {name: one.count for name, one in snapshot.metrics.items() if one.enabled}
        try:
            limits = redo.limits_in_force(snapshot.identity.version, snapshot.variables, snapshot.status, metrics)
        except redo.RedoUnknown:
            return _("limits computed")
        reported = limits.origin == "reported"
        maximum = _("maximum age") if limits.sync_point_bytes is None else _("maximum")
        titles = (
            ("async_point_bytes", _("async point")),
            ("sync_point_bytes", _("sync point")),
            ("maximum_bytes", maximum),
        )
        names = [title for field, title in titles if field in limits.reported]
    if not reported:
        return _("limits computed")
    if not names:
        return _("limits reported by the server")
    return _("%(points)s reported by the server, other lines computed") % {"points": ", ".join(names)}


def _age_sentence(history: _History, times: PressureTimes, snapshot: Snapshot | None) -> str:
    """What the chart shows, for people who do not see it: the peak, and how long it was beyond the points."""
    peak = history.greatest(series.PRESSURE)
    if peak is None:
        return _("No checkpoint age in this time.")
    pressure = history.buckets.series[series.PRESSURE]
    at = history.at[int(np.nanargmax(pressure.greatest))]
    words = _("Peaked at %(peak)s of the %(point)s at %(time)s") % {
        "peak": quantities.percent(peak),
        "point": point_name(snapshot),
        "time": quantities.instant(_moment(at)),
    }
    if times.above_async_seconds > 0:
        spent = quantities.duration(round(times.above_async_seconds))
        return words + "; " + _("at or above the async point for %(time)s.") % {"time": spent}
    if peak < (_async_ratio(history) or 1.0):
        return words + "; " + _("never at the async point.")
    return words + "."


def _moment(at_ms: float) -> datetime:
    return datetime.fromtimestamp(at_ms / 1000, UTC)


def _async_ratio(history: _History) -> float | None:
    point, limit = history.last(series.EFFECTIVE_ASYNC_POINT), history.last(series.EFFECTIVE_SYNC_POINT)
    return point / limit if point and limit else None


def _rate_label(value: float) -> str:
    return quantities.number(value)


def _redo_rate(history: _History, frame: _Frame) -> Chart:
    written, advanced = history.points(series.LSN, 1 / MIB), history.points(series.CHECKPOINT_LSN, 1 / MIB)
    known = [point[3] for point in written if point is not None]
    sentence = _("No redo rate in this time.")
    if known:
        sentence = _("Redo written %(now)s MiB/s now, %(mean)s on average, at most %(most)s.") % {
            "now": quantities.number(known[-1]),
            "mean": quantities.number(sum(known) / len(known)),
            "most": quantities.number(max(point[2] for point in written if point is not None)),
        }
    return Chart(
        id="redo-rate",
        title=_("Redo written, checkpoint advance"),
        caption="MiB/s",
        axis=Axis(_rate_label),
        started=frame.started,
        ended=frame.ended,
        traces=(
            Trace(_("redo written"), "age", written, filled=True),
            Trace(_("checkpoint advance"), "good", advanced, band=False, dashed=True),
        ),
        gaps=frame.gaps,
        sentence=sentence,
        missing=_("No position in the redo log could be read in this time."),
    )


def _transactions(history: _History, frame: _Frame) -> Chart:
    points = history.points(series.TRANSACTIONS)
    known = [point[3] for point in points if point is not None]
    code = history.last(series.TRANSACTIONS_METHOD)
    method = counters.METHODS.get(int(code)) if code is not None else None
    caption = _("per second")
    if method is not None:
        caption += " · " + _(method.title)
    sentence = _("No transactions counted in this time.")
    if known:
        sentence = _("%(now)s transactions per second now, %(mean)s on average, between %(least)s and %(most)s.") % {
            "now": quantities.number(known[-1]),
            "mean": quantities.number(sum(known) / len(known)),
            "least": quantities.number(min(point[1] for point in points if point is not None)),
            "most": quantities.number(max(point[2] for point in points if point is not None)),
        }
    return Chart(
        id="transactions",
        title=_("Transactions"),
        caption=caption,
        axis=Axis(quantities.number),
        started=frame.started,
        ended=frame.ended,
        traces=(Trace(_("transactions"), "second", points, filled=True),),
        gaps=frame.gaps,
        sentence=sentence,
    )


def _setting(variables: Mapping[str, str], name: str) -> float | None:
    try:
        return float(variables[name])
    except (KeyError, ValueError):
        return None


def _flushing(history: _History, frame: _Frame, variables: Mapping[str, str]) -> Chart:
    titles = {
        "adaptive": _("adaptive"),
        "background": _("background"),
        "neighbor": _("neighbours"),
        "lru": _("LRU"),
        "sync": _("synchronous"),
    }
    by_reason = [
        Trace(titles[reason], role, history.points(counters.FLUSHED_BY_REASON[reason]), band=False)
        for reason, role in _REASONS
        if history.has(counters.FLUSHED_BY_REASON[reason])
    ]
    total = history.points(_FLUSHED)
    traces = by_reason or [Trace(_("pages flushed"), "good", total, filled=True)]
    greatest = max((point[2] for trace in traces for point in trace.points if point is not None), default=0.0)
    limits = []
    for name, role, style in (("innodb_io_capacity_max", "sync", "solid"), ("innodb_io_capacity", "async", "long")):
        value = _setting(variables, name)
        if value is not None:
            limits.append(Limit(name.removeprefix("innodb_"), role, style, history.level(value)))
    # The lines are shown where they matter: on a scale that the flushing itself would make flat they are named above
    # it.
    near = [value for limit in limits if (value := limit.newest) is not None and value <= 4 * greatest]
    known = [point[3] for point in total if point is not None]
    sentence = _("No flushing counted in this time.")
    if known:
        sentence = _("%(now)s pages per second now, %(mean)s on average.") % {
            "now": quantities.number(known[-1]),
            "mean": quantities.number(sum(known) / len(known)),
        }
    return Chart(
        id="flushing",
        title=_("Pages flushed"),
        caption=_("per second, by reason") if by_reason else _("per second, all reasons"),
        axis=Axis(quantities.number, at_least=max(near, default=0.0)),
        started=frame.started,
        ended=frame.ended,
        traces=traces,
        limits=limits,
        gaps=frame.gaps,
        stacked=bool(by_reason),
        sentence=sentence,
    )


def _dirty_pages(history: _History, frame: _Frame, variables: Mapping[str, str]) -> Chart:
    limits = []
    for name, title, role, style in (
        ("innodb_max_dirty_pages_pct", _("max"), "sync", "solid"),
        ("innodb_max_dirty_pages_pct_lwm", _("low-water mark"), "async", "long"),
    ):
        value = _setting(variables, name)
        if value is None:
            continue
        # Zero switches the low-water mark off: a line at zero would say the contrary.
        if value > 0:
            limits.append(Limit(title, role, style, history.level(value)))
    now, peak = history.last(series.DIRTY_PERCENT), history.greatest(series.DIRTY_PERCENT)
    sentence = _("No dirty pages counted in this time.")
    if now is not None and peak is not None:
        sentence = _("%(now)s of the buffer pool's pages are dirty, at most %(peak)s in this time.") % {
            "now": quantities.percent(now / _PERCENT),
            "peak": quantities.percent(peak / _PERCENT),
        }
    caption = _("percent of the buffer pool")
    if _setting(variables, "innodb_max_dirty_pages_pct_lwm") == 0:
        caption += " · " + _("low-water mark off")
    return Chart(
        id="dirty-pages",
        title=_("Dirty pages"),
        caption=caption,
        axis=Axis(quantities.number, at_least=100.0 if limits else 0.0, at_most=100.0),
        started=frame.started,
        ended=frame.ended,
        traces=(Trace(_("dirty pages"), "age", history.points(series.DIRTY_PERCENT), filled=True),),
        limits=limits,
        gaps=frame.gaps,
        sentence=sentence,
    )


def _occupancy(history: _History, times: PressureTimes, snapshot: Snapshot | None) -> tuple[Distribution, float | None]:
    """How much of the time the pressure was where, in the cells in which the history counts it."""
    title, caption = _("Occupancy"), _("%% of the time by pressure, age ÷ %(point)s") % {"point": point_name(snapshot)}
    ratio = _async_ratio(history)
    marks = [(1.0, "sync", point_name(snapshot))]
    if ratio is not None:
        marks.insert(0, (ratio, "async", _("async point")))
    cells = max(_BARS, 2 + max((cell for cell, seconds in enumerate(times.histogram) if seconds), default=0))
    total = times.seconds
    shares = [seconds / total if total else 0.0 for seconds in times.histogram[:cells]]
    bars = tuple(
        Bar(round(cell * _BAR_WIDTH, 4), round((cell + 1) * _BAR_WIDTH, 4), share) for cell, share in enumerate(shares)
    )
    most = history.greatest(series.PRESSURE)
    if not total or most is None:
        return Distribution("occupancy", title, caption, bars, marks, sentence=_("No pressure in this time.")), None
    # A histogram tells percentiles to half a cell, the time above a point is exact: together they must not disagree.
    above = [(times.above_async_seconds, ratio or 0.0), (times.at_limit_seconds, AT_LIMIT_PRESSURE)]
    p50, p95 = (
        min(max(weighted_percentile(times.histogram, _BAR_WIDTH, share), *_reached(above, (1 - share) * total)), most)
        for share in (0.5, 0.95)
    )
    figures = [
        (_("median"), quantities.percent(p50)),
        (_("95 %% below") % {}, quantities.percent(p95)),
        (_("max"), quantities.percent(most)),
    ]
    if ratio is not None:
        figures.append((_("above async"), _share_of_time(times.above_async_seconds / total)))
    figures.append((_("writers wait"), _share_of_time(times.at_limit_seconds / total)))
    sentence = ", ".join(f"{name} {value}" for name, value in figures)
    return Distribution("occupancy", title, caption, bars, marks, tuple(figures), sentence), p95


def _reached(above: list[tuple[float, float]], seconds: float) -> list[float]:
    """The levels that the pressure was at or above for longer than so many seconds, and 0."""
    return [0.0, *(level for spent, level in above if spent > seconds)]


def _share_of_time(share: float) -> str:
    return _("%(share)s of time") % {"share": quantities.percent(share)}
