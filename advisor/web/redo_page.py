"""What the redo page of one server shows: will checkpointing hurt it, when, and how big should its redo log be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.utils import timezone
from django.utils.translation import gettext as _

from advisor.engine.units import DAY
from advisor.mysql import redo, series
from advisor.mysql.digest import HourlyDigest
from advisor.mysql.snapshot import Remedy, RemedyKind, Snapshot
from advisor.mysql.statements import BadProposal, Rendered, render
from advisor.recommendations import redo_sizing
from advisor.ui import quantities
from advisor.ui.period import RANGES, Choice, Period
from advisor.ui.quantities import percent
from advisor.web import redo_hours, redo_words, redo_writers, server_page
from advisor.web.charts.drawing import drawings
from advisor.web.redo_words import GOALS, Said
from advisor.whatif.sizing import Size, Sizing
from collector import snapshots
from collector.models import Server
from collector.store import store

#: The ranges of this page: shorter ones hold too little to size a log by.
RANGES_HERE = ("1h", "6h", "24h", "7d", "30d")
DEFAULT_RANGE = "24h"
#: Sizes beyond the smallest that holds the objective, and below the present one, that the table shows.
_BEYOND = 2
#: The heatmap and the hours look at least this far back: a day has each hour once.
_HOURS_SECONDS = 7 * DAY
#: Charts of the server page that this one shows, too.
_CHARTS = ("checkpoint-age", "occupancy")


@dataclass(frozen=True)
class Row:
    """One size of the table, in words."""

    size: str
    exact: int
    p95: str
    above: str
    waits: str
    recovery: str
    disk: str
    state: str
    verdict: str
    measured: bool
    proposed: bool
    chosen: bool
    address: str


def read(server: Server, period: Period, parameters: Mapping[str, str]) -> dict[str, Any]:
    """The context of the template."""
    snapshot = snapshots.latest(server.pk)
    context: dict[str, Any] = {
        "period": period,
        "ranges": [
            Choice(name, _address(parameters, range=name), name == period.name)
            for name in RANGES_HERE
            if name in RANGES
        ],
        "capacity": None,
    }
    if snapshot is None:
        words = _("No full snapshot was taken yet, so that the size of the redo log is not known")
        return {**context, "said": Said("unknown", words, (_("the first is due within a minute"),)), "empty": True}
    if not redo.has_redo_log(snapshot.identity.version):
        said = Said(
            "calm",
            _("Amazon Aurora has no redo log to size"),
            (_("its storage writes the log itself: there is no checkpoint age, and nothing here to set"),),
        )
        return {**context, "said": said, "empty": True}
    try:
        found = redo_sizing.read(server, snapshot, period.started, period.ended, GOALS.get(parameters.get("goal", "")))
    except redo.RedoUnknown as reason:
        return {
            **context,
            "said": Said("unknown", _("The size of the redo log is not known"), (str(reason),)),
            "empty": True,
        }
    return {**context, **_known(server, snapshot, period, parameters, found)}


def _known(
    server: Server, snapshot: Snapshot, period: Period, parameters: Mapping[str, str], found: redo_sizing.Read
) -> dict[str, Any]:
    version = snapshot.identity.version
    sizing = found.sizing
    charts, _snapshot = server_page.charts_of(server, period)
    digests = store().digests(server.pk, min(period.started, period.ended - _HOURS_SECONDS), period.ended)
    heat = redo_hours.heatmap(digests, timezone.get_current_timezone())
    age = charts.chart("checkpoint-age")
    unread = age is None or age.is_empty
    by_polls = period.seconds <= redo_sizing.LONGEST_BY_POLLS
    episodes, count = (
        redo_hours.episodes_of_samples(found.samples) if by_polls else redo_hours.episodes_of_digests(found.digests)
    )
    said = redo_words.told(sizing) if sizing is not None else redo_words.refused(_reason(found), found.measured)
    remedy = _missing_age(snapshot) if unread and series.LSN not in snapshot.derived else None
    chosen = _chosen(sizing, found, parameters) if sizing is not None else None
    rows = _rows(sizing, found, chosen, parameters) if sizing is not None else []
    return {
        "said": said,
        "empty": False,
        "capacity": redo.capacity_in_force(version, snapshot.variables, snapshot.status),
        "variable": redo.capacity_variable(version),
        "restart": not redo.resizable_online(version),
        "present": sizing.present if sizing is not None else None,
        "sizing": sizing,
        "rows": rows,
        "goal": redo_words.goal_words(sizing.objective) if sizing is not None else "",
        "goals": _goals(sizing, parameters),
        "what_was_read": _what_was_read(found, period),
        "left_out": _left_out(found),
        "model": _model(sizing) if sizing is not None else "",
        "agreement": redo_words.agreement(sizing, found.proposed) if sizing is not None else "",
        "proposed": found.proposed,
        "set": _to_set(snapshot, chosen) if chosen is not None else None,
        "chosen": chosen,
        "strip": _strip(sizing, digests),
        "age_title": _("Age, 95 %% below") % {},
        "remedy": remedy,
        "drawings": [one for one in drawings(charts) if one.id in _CHARTS],
        "pressure_p95": charts.pressure_p95,
        "written": redo_hours.written(digests),
        "heat": heat,
        "heat_worst": redo_hours.worst(heat),
        "heat_hours": range(24),
        "episodes": episodes,
        "episode_count": count,
        "episodes_from_hours": not by_polls,
        **redo_writers.read(server, snapshot),
    }


def _missing_age(snapshot: Snapshot) -> Remedy:
    """What would make the age readable: the grant that a failed probe asked for, since that one names the account."""
    asked = (probe.remedy for probe in snapshot.probes if probe.remedy is not None)
    found = next((one for one in asked if one.kind is RemedyKind.GRANT and " PROCESS " in one.text), None)
    return found or redo.missing_reading(snapshot.identity.version)


def _reason(found: redo_sizing.Read) -> Any:
    assert found.refusal is not None
    return found.refusal


def _address(parameters: Mapping[str, str], **changed: str) -> str:
    """The same page with something else chosen."""
    kept = {name: parameters[name] for name in ("range", "from", "to", "tz", "goal", "size") if name in parameters}
    if "range" in changed:
        kept.pop("from", None)
        kept.pop("to", None)
    return "?" + urlencode({**kept, **changed})


def _goals(sizing: Sizing | None, parameters: Mapping[str, str]) -> list[Choice]:
    here = redo_words.goal_name(sizing.objective) if sizing is not None else parameters.get("goal", "")
    return [
        Choice(redo_words.goal_brief(objective), _address(parameters, goal=name), name == here)
        for name, objective in GOALS.items()
    ]


def _chosen(sizing: Sizing, found: redo_sizing.Read, parameters: Mapping[str, str]) -> Size | None:
    """The size whose statements are shown: as the address says, else the bigger one that the first sentence names,
    else what is recommended; none where nothing but the present one is.
    """
    enough, present = sizing.smallest or sizing.perhaps, sizing.present
    wanted = [parameters.get("size", "")]
    if enough is not None and present is not None and enough.capacity_bytes > present.capacity_bytes:
        wanted.append(str(enough.capacity_bytes))
    wanted += [str(found.proposed.capacity_bytes)] if found.proposed is not None else []
    for text in wanted:
        for one in sizing.sizes:
            if str(one.capacity_bytes) == text and not one.measured:
                return one
    return None


def _rows(sizing: Sizing, found: redo_sizing.Read, chosen: Size | None, parameters: Mapping[str, str]) -> list[Row]:
    """The table; of the sizes beyond the smallest that holds the objective only the next two."""
    smallest = sizing.smallest
    proposed = found.proposed.capacity_bytes if found.proposed is not None else 0
    rows, beyond = [], 0
    for one in sizing.sizes:
        if smallest is not None and one.capacity_bytes > smallest.capacity_bytes:
            beyond += 1
            if beyond > _BEYOND and not one.measured and one.capacity_bytes != proposed and one is not chosen:
                continue
        state, verdict = redo_words.verdict_words(one.verdict, measured=one.measured)
        rows.append(
            Row(
                size=quantities.size(one.capacity_bytes),
                exact=one.capacity_bytes,
                p95=redo_words.between(one.p95, redo_words.rounded_percent),
                above=redo_words.between(one.above_async, redo_words.rounded_percent),
                waits=redo_words.between(one.waiting_hours_per_week, lambda hours: quantities.number(round(hours, 1))),
                recovery=redo_words.between(one.recovery_seconds, redo_words.recovery),
                disk=redo_words.disk(one.disk_bytes),
                state=state,
                verdict=verdict,
                measured=one.measured,
                proposed=one.capacity_bytes == proposed,
                chosen=one is chosen,
                address="" if one.measured else _address(parameters, size=str(one.capacity_bytes)) + "#set",
            )
        )
    return rows


def _strip(sizing: Sizing | None, digests: Sequence[HourlyDigest]) -> list[tuple[str, str, str]]:
    """Name, figure and what it is of; nothing where there is no table."""
    if sizing is None or sizing.present is None:
        return []
    now, hours = sizing.present, redo_hours.written(digests)
    best = sizing.smallest
    return [
        (_("Age, 95 %% below") % {}, percent(now.p95.high), _("of its limit")),
        (_("Above async"), percent(now.above_async.high), _("of the time")),
        (_("Writers wait"), quantities.number(round(now.waiting_hours_per_week.high, 1)), _("h/week")),
        (_("Busiest hour"), quantities.NOTHING if hours is None else quantities.size(hours.most), _("of redo")),
        (_("Crash recovery"), redo_words.between(now.recovery_seconds, redo_words.recovery), _("estimated")),
        (
            _("Smallest that holds"),
            quantities.NOTHING if best is None else quantities.size(best.capacity_bytes),
            "",
        ),
    ]


def _what_was_read(found: redo_sizing.Read, period: Period) -> str:
    """``[7 d, 604,800 s read, 0.4 % gaps]``."""
    return _("%(range)s, %(seconds)s s read, %(gaps)s gaps") % {
        "range": period.name or quantities.duration(round(period.seconds)),
        "seconds": f"{found.recorded.read_seconds:,.0f}",
        "gaps": percent(found.recorded.gap_ratio),
    }


def _left_out(found: redo_sizing.Read) -> list[str]:
    """What was excluded and why, and what makes the figures look better than they are."""
    out, said = found.recorded.excluded, []
    if out.resizes:
        said.append(
            _("%(n)s resizes of the log, %(time)s around them")
            % {"n": out.resizes, "time": quantities.duration(round(out.resize_seconds))}
        )
    if out.reset_seconds:
        said.append(
            _("%(time)s without a rate (restarts, counters set back)")
            % {"time": quantities.duration(round(out.reset_seconds))}
        )
    if out.gap_seconds >= 1:
        said.append(_("%(time)s not watched") % {"time": quantities.duration(round(out.gap_seconds))})
    return said


def _model(sizing: Sizing) -> str:
    test = sizing.back_test
    return _(
        "Tried on the second half of what was recorded, after being fitted on the first: 95th percentile %(simulated)s "
        "simulated, %(recorded)s recorded; ages off by %(mape)s on average."
    ) % {
        "simulated": percent(test.p95_simulated),
        "recorded": percent(test.p95_recorded),
        "mape": percent(test.mape),
    }


def _to_set(snapshot: Snapshot, chosen: Size) -> Rendered | None:
    """The lines that give this server the chosen size; None where it takes none (a size it would refuse)."""
    try:
        return render(
            redo_sizing.changes_for(snapshot, chosen.capacity_bytes),
            snapshot.identity.version,
            snapshot.variables,
            snapshot.origins,
            status=snapshot.status,
            persisted=snapshot.persisted,
        )
    except BadProposal:
        return None
