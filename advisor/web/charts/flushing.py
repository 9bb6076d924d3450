"""Pages flushed by reason, stacked with the synchronous ones on top, under the lines of innodb_io_capacity."""

from __future__ import annotations

from django.utils.translation import gettext as _

from advisor.mysql import counters
from advisor.mysql.snapshot import ProbeState, Snapshot
from advisor.ui import quantities
from advisor.ui.charts.chart import Axis, Chart, Limit, Trace
from advisor.web.charts.history import Frame, History, rate_words

_FLUSHED = "Innodb_buffer_pool_pages_flushed"
NAMES = (_FLUSHED, *counters.FLUSHED_BY_REASON.values())
#: Reason and colour, from the bottom of the stack to its top.
_REASONS = (
    ("adaptive", "good"),
    ("background", "age"),
    ("neighbor", "past"),
    ("lru", "second"),
    ("sync", "sync"),
)
#: A limit is given room on the axis up to so many times the greatest value: above, it would make the flushing flat.
_NEAR = 4


def chart(history: History, frame: Frame) -> Chart:
    titles = {
        "adaptive": _("adaptive"),
        "background": _("background"),
        "neighbor": _("neighbours"),
        "lru": _("LRU"),
        "sync": _("synchronous"),
    }
    by_reason = [
        Trace(titles[reason], role, history.points(counters.FLUSHED_BY_REASON[reason]), band=False, key=reason)
        for reason, role in _REASONS
        if history.has(counters.FLUSHED_BY_REASON[reason])
    ]
    total = history.points(_FLUSHED)
    traces = by_reason or [Trace(_("pages flushed"), "good", total, filled=True, key="all_reasons")]
    greatest = max((point[3] for point in total if point is not None), default=0.0)
    limits = _capacities(frame)
    near = [place[1] for limit in limits for place in limit.points if place is not None]
    words = rate_words(total)
    sentence = _("No flushing counted in this time.")
    if words is not None:
        sentence = _("%(now)s pages per second now, %(mean)s on average.") % words
    return Chart(
        id="flushing",
        title=_("Pages flushed"),
        caption=_("per second, by reason") if by_reason else _("per second, all reasons"),
        axis=Axis(quantities.number, at_least=max((one for one in near if one <= _NEAR * greatest), default=0.0)),
        unit="pages/s",
        started=frame.started,
        ended=frame.ended,
        traces=traces,
        past=history.past_trace(_FLUSHED, _("all reasons, before"), "all_reasons_before"),
        limits=limits,
        gaps=frame.gaps,
        stacked=bool(by_reason),
        sentence=sentence,
        notes=() if by_reason or not any(total) else (_why_not_by_reason(frame.snapshot),),
        missing=_("No flushed pages could be counted in this time."),
    )


def _capacities(frame: Frame) -> list[Limit]:
    limits = []
    for name, role, style in (("innodb_io_capacity_max", "sync", "solid"), ("innodb_io_capacity", "async", "long")):
        places = frame.settings.line(name, frame.started, frame.ended)
        if places:
            limits.append(Limit(name.removeprefix("innodb_"), role, style, places, name))
    return limits


def _why_not_by_reason(snapshot: Snapshot | None) -> str:
    """Why the reasons are not told apart, and what would change it."""
    probe = next((one for one in snapshot.probes if one.name == "innodb_metrics"), None) if snapshot else None
    if probe is not None and probe.state is not ProbeState.OK and probe.remedy is not None:
        return _("By reason: not read, innodb_metrics is closed to us. %(remedy)s") % {"remedy": probe.remedy.text}
    statement = "SET GLOBAL innodb_monitor_enable = 'buffer_flush%'"
    return _("By reason: not read, the server's counters are off. %(statement)s turns them on.") % {
        "statement": statement
    }
