"""Dirty pages between the low-water mark and the maximum, and how much of the buffer pool is free."""

from __future__ import annotations

from django.utils.translation import gettext as _

from advisor.mysql import series
from advisor.ui import quantities
from advisor.ui.charts.chart import Axis, Chart, Limit, Point, Trace
from advisor.web.charts.history import PERCENT, Frame, History

_FREE, _TOTAL = "Innodb_buffer_pool_pages_free", "Innodb_buffer_pool_pages_total"
NAMES = (series.DIRTY_PERCENT, _FREE, _TOTAL)


def chart(history: History, frame: Frame) -> Chart:
    limits = []
    for name, title, role, style in (
        ("innodb_max_dirty_pages_pct", _("max"), "sync", "solid"),
        ("innodb_max_dirty_pages_pct_lwm", _("low-water mark"), "async", "long"),
    ):
        # Zero switches the low-water mark off: a line at zero would say the contrary.
        places = [
            None if place is None or place[1] <= 0 else place
            for place in frame.settings.line(name, frame.started, frame.ended)
        ]
        if any(places):
            limits.append(Limit(title, role, style, places, name))
    now, peak = history.last(series.DIRTY_PERCENT), history.greatest(series.DIRTY_PERCENT)
    sentence = _("No dirty pages counted in this time.")
    if now is not None and peak is not None:
        sentence = _("%(now)s of the buffer pool's pages are dirty, at most %(peak)s in this time.") % {
            "now": quantities.percent(now / PERCENT),
            "peak": quantities.percent(peak / PERCENT),
        }
    caption = _("percent of the buffer pool")
    if frame.settings.number("innodb_max_dirty_pages_pct_lwm") == 0:
        caption += " · " + _("low-water mark off")
    traces = [Trace(_("dirty pages"), "age", history.points(series.DIRTY_PERCENT), filled=True, key="dirty_pages")]
    free = _free(history)
    if any(free):
        traces.append(Trace(_("free pages"), "good", free, band=False, dashed=True, key="free_pages"))
    return Chart(
        id="dirty-pages",
        title=_("Dirty pages"),
        caption=caption,
        axis=Axis(quantities.number, at_least=PERCENT if limits else 0.0, at_most=PERCENT),
        unit="%",
        started=frame.started,
        ended=frame.ended,
        traces=traces,
        past=history.past_trace(series.DIRTY_PERCENT, _("dirty pages, before"), "dirty_pages_before"),
        limits=limits,
        gaps=frame.gaps,
        sentence=sentence,
        missing=_("The buffer pool's pages could not be read in this time."),
    )


def _free(history: History) -> list[Point]:
    """Free pages as percent of all pages: the pool's size hardly moves within a bucket, so its last value serves."""
    return [
        None
        if free is None or total is None or not total[3]
        else (free[0], *(min(PERCENT * one / total[3], PERCENT) for one in free[1:]))  # type: ignore[misc]
        for free, total in zip(history.points(_FREE), history.points(_TOTAL), strict=True)
    ]
