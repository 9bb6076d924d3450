"""The six charts of the server page, out of one read of the sample history and the newest snapshot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from advisor.mysql import series
from advisor.mysql.snapshot import Snapshot
from advisor.ui.charts.chart import Chart, Distribution, Happening
from advisor.ui.period import Period
from advisor.web.charts import checkpoint_age, dirty_pages, flushing, occupancy, redo_rate, transactions
from advisor.web.charts.history import Frame, History, point_name
from advisor.web.charts.settings import SettingsHistory
from collector.store.interface import Buckets, PressureTimes, RecordedGap

#: Points of each series: more than a card has pixels is not seen, fewer hides short peaks less well than min and max
#: do.
POINTS, POINTS_TALL = 300, 600

NAMES: tuple[str, ...] = tuple(
    dict.fromkeys(
        name
        for chart in (checkpoint_age, redo_rate, transactions, flushing, dirty_pages, occupancy)
        for name in chart.NAMES
    )
)
#: What is read of last week where the reader asks for no comparison: the same hours' transactions.
NAMES_LAST_WEEK: tuple[str, ...] = (series.TRANSACTIONS,)


@dataclass(frozen=True)
class Before:
    """The range that the page's is compared with: its buckets, its times, how far back it lies, and its name."""

    buckets: Buckets
    times: PressureTimes | None
    back_seconds: float
    name: str


@dataclass(frozen=True)
class ServerCharts:
    """What the page shows: five charts over time, and the distribution of the pressure with its figures."""

    over_time: tuple[Chart, ...]
    occupancy: Distribution
    pressure_p95: float | None
    step_seconds: int = 0

    def chart(self, chart_id: str) -> Chart | None:
        return next((chart for chart in self.over_time if chart.id == chart_id), None)


def build(
    buckets: Buckets,
    times: PressureTimes,
    snapshot: Snapshot | None,
    period: Period,
    gaps: Sequence[RecordedGap] = (),
    happenings: Sequence[Happening] = (),
    settings: SettingsHistory | None = None,
    before: Before | None = None,
    fsyncs: Buckets | None = None,
) -> ServerCharts:
    """All six. ``settings`` gives the limits that are system variables; without them the newest ``snapshot``'s are
    taken, and without one they are left out.

    ``times`` is of the same range as ``buckets``: shares of time are told from every poll, since the buckets hold
    extremes and cannot tell how long they lasted. ``fsyncs`` is of the full tier, where the server measures them.
    """
    history = History(buckets, before.buckets if before else None, before.back_seconds if before else 0.0)
    frame = Frame(
        started=period.started * 1000,
        ended=period.ended * 1000,
        gaps=tuple((gap.started_at * 1000, (gap.ended_at or period.ended) * 1000, gap.why) for gap in gaps),
        happenings=tuple(happenings),
        snapshot=snapshot,
        settings=settings or SettingsHistory(snapshot.variables if snapshot is not None else {}),
    )
    name = before.name if before else ""
    spread, p95 = occupancy.distribution(history, times, frame, before.times if before else None, name)
    return ServerCharts(
        (
            checkpoint_age.chart(history, times, frame),
            redo_rate.chart(history, frame),
            transactions.chart(history, frame, name, History(fsyncs) if fsyncs is not None else None),
            flushing.chart(history, frame),
            dirty_pages.chart(history, frame),
        ),
        spread,
        p95,
        buckets.step_seconds,
    )


def point_short(snapshot: Snapshot | None) -> str:
    """What the pressure is measured against where there is room for a word or two."""
    return _("max age") if point_name(snapshot) == _("maximum age") else point_name(snapshot)
