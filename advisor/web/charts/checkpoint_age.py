"""The checkpoint age against its limits, which move when the redo log is resized."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import pairwise

import numpy as np
from django.utils.translation import gettext as _

from advisor.mysql import redo, series
from advisor.mysql.snapshot import Snapshot
from advisor.ui import quantities
from advisor.ui.charts.chart import Axis, Chart, Limit, RightAxis, Trace
from advisor.web.charts.history import Frame, History, async_ratio, point_name
from collector.store.interface import PressureTimes

NAMES = (
    series.CHECKPOINT_AGE,
    series.ASYNC_POINT,
    series.SYNC_POINT,
    series.MAXIMUM_AGE,
    series.EFFECTIVE_ASYNC_POINT,
    series.EFFECTIVE_SYNC_POINT,
    series.PRESSURE,
    series.CAPACITY,
    series.LIMITS_REPORTED,
)
#: Two lines closer than this share of the redo capacity are one line on the screen.
_SAME_LINE = 0.004
#: Shares of the point at which writers wait that the right axis names.
_SHARES = (0.25, 0.5, 0.75, 1.0)


def chart(history: History, times: PressureTimes, frame: Frame) -> Chart:
    limits = [*_reported(history), *_acting(history)]
    capacity = history.last(series.CAPACITY) or 0
    parts = []
    if capacity:
        parts.append(_("redo capacity %(size)s") % {"size": quantities.size(capacity)})
    origin = history.last(series.LIMITS_REPORTED)
    if origin is not None:
        parts.append(_origin_words(bool(origin), frame.snapshot))
    top = max((place[1] for limit in limits for place in limit.points if place is not None), default=0.0)
    return Chart(
        id="checkpoint-age",
        title=_("Checkpoint age"),
        caption=" · ".join(parts) or _("bytes of redo since the last checkpoint"),
        axis=Axis(quantities.size, base=1024, at_least=top),
        right=_right(history, frame.snapshot),
        unit="bytes",
        started=frame.started,
        ended=frame.ended,
        traces=(
            Trace(
                _("checkpoint age"),
                "age",
                history.points(series.CHECKPOINT_AGE),
                filled=True,
                key=series.CHECKPOINT_AGE,
            ),
        ),
        past=history.past_trace(series.CHECKPOINT_AGE, _("checkpoint age, before"), "checkpoint_age_before"),
        limits=limits,
        gaps=frame.gaps,
        happenings=frame.happenings,
        sentence=_sentence(history, times, frame.snapshot),
        missing=_("The checkpoint age could not be read in this time."),
        notes=_resized(history),
        tall=True,
    )


def _reported(history: History) -> list[Limit]:
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
            limits.append(Limit(title, role, style, history.limit(name), name))
    return limits


def _acting(history: History) -> list[Limit]:
    """Where the points that act are other ones than those that are reported, they are drawn too, thin and dashed."""
    limits = []
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
        if others and all(abs(value - other) > _SAME_LINE * max(capacity, other) for other in others):
            limits.append(Limit(title, role, "fine", history.limit(name), name))
    return limits


def _right(history: History, snapshot: Snapshot | None) -> RightAxis | None:
    """Percent of the newest point at which writers wait. Where the log was resized the scale holds for now only."""
    point = history.last(series.EFFECTIVE_SYNC_POINT)
    if not point:
        return None
    title = _("%% of the %(point)s") % {"point": point_name(snapshot)}
    return RightAxis(title, point, tuple((share * point, quantities.percent(share)) for share in _SHARES))


def _resized(history: History) -> Sequence[str]:
    """That the redo log was resized within the range, since then its lines are no level ones."""
    sizes = [place[1] for place in history.limit(series.CAPACITY) if place is not None]
    moves = [(a, b) for a, b in pairwise(sizes) if a != b]
    if not moves:
        return ()
    return (
        _("The redo log was resized in this time: %(sizes)s.")
        % {"sizes": " → ".join(quantities.size(size) for size in [moves[0][0], *(after for _before, after in moves)])},
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


def _sentence(history: History, times: PressureTimes, snapshot: Snapshot | None) -> str:
    """What the chart shows, for people who do not see it: the peak, and how long it was beyond the points."""
    peak = history.greatest(series.PRESSURE)
    if peak is None:
        return _("No checkpoint age in this time.")
    pressure = history.buckets.series[series.PRESSURE]
    at = history.at[int(np.nanargmax(pressure.greatest))]
    words = _("Peaked at %(peak)s of the %(point)s at %(time)s") % {
        "peak": quantities.percent(peak),
        "point": point_name(snapshot),
        "time": quantities.instant(datetime.fromtimestamp(at / 1000, UTC)),
    }
    if times.above_async_seconds > 0:
        spent = quantities.duration(round(times.above_async_seconds))
        return words + "; " + _("at or above the async point for %(time)s.") % {"time": spent}
    if peak < (async_ratio(history) or 1.0):
        return words + "; " + _("never at the async point.")
    return words + "."
