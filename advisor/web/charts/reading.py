"""Reads what the six charts of one server are made of."""

from __future__ import annotations

from collections.abc import Sequence

from django.utils.translation import gettext as _

from advisor.engine.units import WEEK
from advisor.mysql.snapshot import Snapshot
from advisor.ui import quantities
from advisor.ui.charts.chart import Happening
from advisor.ui.period import Period
from advisor.web import server_charts
from advisor.web.charts.fsyncs import FSYNC_NAMES
from advisor.web.charts.settings import SettingChange, SettingsHistory
from advisor.web.server_charts import Before, ServerCharts
from collector import settings_history, snapshots
from collector.models import Server
from collector.store import store

#: Unix seconds beyond any sample.
_EVER = 2**40


def read(
    server: Server,
    period: Period,
    happenings: Sequence[Happening] = (),
    *,
    points: int = server_charts.POINTS,
) -> tuple[ServerCharts, Snapshot | None]:
    """All charts of the range, by one read of the history and one of what it is compared with."""
    snapshot = snapshots.latest(server.pk)
    buckets = store().buckets(server.pk, server_charts.NAMES, period.started, period.ended, points)
    times = store().pressure_times(server.pk, period.started, period.ended)
    gaps = store().gaps(server.pk, period.started, period.ended)
    settings = _settings(server, period, snapshot)
    before = _before(server, period, points)
    fsyncs = None
    if snapshot is not None and snapshot.performance_schema.get("fsyncs"):
        # Asked for by itself: together with the polls it would make every chart as coarse as the full tier is.
        fsyncs = store().buckets(server.pk, FSYNC_NAMES, period.started, period.ended, points)
    return server_charts.build(buckets, times, snapshot, period, gaps, happenings, settings, before, fsyncs), snapshot


def _settings(server: Server, period: Period, snapshot: Snapshot | None) -> SettingsHistory:
    """The settings at the range's end and what moved in it: what the newest snapshot has, with every later change taken
    back.
    """
    present = dict(snapshot.variables) if snapshot is not None else {}
    inside: list[SettingChange] = []
    # What came after the range is looked at from the newest to the oldest, so that the oldest value is left standing.
    for change in reversed(settings_history.changes(server.pk, period.started, _EVER)):
        if change.at < period.ended:
            inside.append(SettingChange(change.at * 1000, change.name, change.old, change.new))
        elif change.old is not None:
            present[change.name] = change.old
        else:
            present.pop(change.name, None)
    return SettingsHistory(present, tuple(reversed(inside)))


def _before(server: Server, period: Period, points: int) -> Before | None:
    """What the reader compares with; without a wish the same hours of last week, of which the transactions alone."""
    back = period.back_seconds or WEEK
    if period.seconds > back:
        # The ranges would overlap: a line would be compared with itself.
        return None
    started, ended = period.started - back, period.ended - back
    if not period.back_seconds:
        found = store().buckets(server.pk, server_charts.NAMES_LAST_WEEK, started, ended, points)
        return Before(found, None, back, _("a week before"))
    return Before(
        store().buckets(server.pk, server_charts.NAMES, started, ended, points),
        store().pressure_times(server.pk, started, ended),
        back,
        _("%(time)s before") % {"time": quantities.duration(back)},
    )
