"""How long one fsync of the redo and of the binary log takes, from what performance_schema counts in the full tier."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from django.utils.translation import gettext as _

from advisor.mysql import series
from advisor.mysql.snapshot import ProbeState, Snapshot
from advisor.ui import quantities
from advisor.ui.charts.chart import Axis, Point, Second, Trace
from advisor.web.charts.history import History

FSYNC_NAMES = tuple(name for pair in series.FSYNCS.values() for name in pair)
_MICROSECONDS = 1000.0  # in a millisecond


def scale(times: Sequence[Point], fsynced: History | None) -> Second | None:
    """Milliseconds of one fsync at the times of the chart's own points; None where none was measured in this range."""
    if fsynced is None:
        return None
    drawn = {
        "redo": Trace(_("fsync of the redo log"), "age", _at(times, fsynced, "redo"), band=False, key="redo_fsync_ms"),
        "binlog": Trace(
            _("fsync of the binary log"), "good", _at(times, fsynced, "binlog"),
            band=False, dashed=True, key="binlog_fsync_ms",
        ),
    }  # fmt: skip
    traces = tuple(trace for trace in drawn.values() if any(trace.points))
    return Second(_("ms of one fsync"), Axis(quantities.number), "ms", traces) if traces else None


def words(snapshot: Snapshot | None) -> str:
    """Where the latency comes from, or why there is none and what would bring it."""
    if snapshot is None:
        return _("Time of an fsync: not read yet.")
    if snapshot.variables.get("performance_schema", "").upper() == "OFF":
        return _("Time of an fsync: not read; performance_schema is off, and switching it on needs a restart.")
    probe = snapshot.probe("performance_schema")
    if probe is not None and probe.state is ProbeState.FAILED:
        remedy = probe.remedy.text if probe.remedy is not None else probe.reason
        return _("Time of an fsync: not read; what would change that: %(remedy)s") % {"remedy": remedy}
    told = snapshot.performance_schema.get("fsyncs")
    if told is None:
        return _("Time of an fsync: not read yet.")
    if "redo" in told:
        return _("fsync: mean time of one between two full snapshots, from performance_schema.")
    if "binlog" in told:
        return _(
            "fsync: mean time of one between two full snapshots, from performance_schema, which measures the binary "
            "log alone on this server."
        )
    return _("Time of an fsync: not read; performance_schema times neither log on this server.")


def _at(times: Sequence[Point], fsynced: History, log: str) -> list[Point]:
    """The mean of the full tier's bucket that each point lies in: it is one for several points of a short range."""
    counts, spent = (fsynced.points(name) for name in series.FSYNCS[log])
    width = fsynced.buckets.step_seconds * 1000
    found: list[Point] = []
    for point in times:
        if point is None:
            found.append(None)
            continue
        at = bisect_right(fsynced.at, point[0]) - 1
        count, microseconds = (counts[at], spent[at]) if at >= 0 and point[0] < fsynced.at[at] + width else (None, None)
        if count is None or microseconds is None or count[3] <= 0:
            found.append(None)
        else:
            mean = microseconds[3] / count[3] / _MICROSECONDS
            found.append((point[0], mean, mean, mean))
    return found
