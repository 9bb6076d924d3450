"""Reads what the six charts of one server are made of."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from django.utils.translation import gettext as _

from advisor.engine.units import WEEK
from advisor.journal.models import Event
from advisor.mysql.snapshot import Snapshot
from advisor.ui import quantities
from advisor.ui.charts.chart import Happening
from advisor.ui.period import Period
from advisor.web import server_charts
from advisor.web.charts.settings import SettingChange, SettingsHistory
from advisor.web.server_charts import Before, ServerCharts
from collector import snapshots
from collector.models import Server
from collector.store import store

#: Events of changed settings that are looked at: more than these, and a range is years long.
_MOST_CHANGES = 500


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
    return server_charts.build(buckets, times, snapshot, period, gaps, happenings, settings, before), snapshot


def _settings(server: Server, period: Period, snapshot: Snapshot | None) -> SettingsHistory:
    """The settings at the range's end and what moved in it: what the newest snapshot has, with every later change that
    the journal tells of taken back.
    """
    present = dict(snapshot.variables) if snapshot is not None else {}
    events = Event.objects.filter(
        server_id=server.pk,
        kind__in=("server.variable_changed", "server.variables_changed"),
        at__gte=datetime.fromtimestamp(period.started, UTC),
    ).order_by("-at", "-id")
    inside: list[SettingChange] = []
    for event in events[:_MOST_CHANGES]:
        for change in setting_changes(event):
            if change.at < period.ended * 1000:
                inside.append(change)
            elif change.old is not None:
                present[change.name] = change.old
    return SettingsHistory(present, tuple(reversed(inside)))


def setting_changes(event: Event) -> list[SettingChange]:
    """What an event says about system variables: one (name, old, new), or many folded into one event."""
    data = event.data if isinstance(event.data, dict) else {}
    at = event.at.timestamp() * 1000
    if data.get("name"):
        return [SettingChange(at, str(data["name"]), _text(data.get("old")), _text(data.get("new")))]
    changes = data.get("changes")
    if not isinstance(changes, dict):
        return []
    return [
        SettingChange(at, str(name), _text(pair[0]), _text(pair[1]))
        for name, pair in changes.items()
        if isinstance(pair, list) and len(pair) == 2
    ]


def _text(value: object) -> str | None:
    return None if value is None else str(value)


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
