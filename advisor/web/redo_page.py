"""What the redo page of one server shows: will checkpointing hurt it, when, and how big should its redo log be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _

from advisor.engine.units import DAY, MINUTE
from advisor.mysql import redo, series
from advisor.mysql.digest import HourlyDigest
from advisor.mysql.snapshot import Remedy, RemedyKind, Snapshot
from advisor.mysql.statements import BadProposal, Rendered, render
from advisor.recommendations import redo_sizing
from advisor.recommendations.redo_sizing import Recording
from advisor.ui import quantities
from advisor.ui.period import RANGES, Choice, Period
from advisor.ui.quantities import percent
from advisor.web import redo_answers, redo_hours, redo_table, redo_words, redo_writers, server_page
from advisor.web.charts.drawing import drawings
from advisor.web.figure_links import RedoFigures
from advisor.web.redo_words import GOALS, Said
from advisor.whatif.sizing import Objective, Size, Sizing
from collector import snapshots
from collector.models import Server
from collector.store import store

#: The ranges of this page: shorter ones hold too little to size a log by.
RANGES_HERE = ("1h", "6h", "24h", "7d", "30d")
DEFAULT_RANGE = "24h"
#: The heatmap and the hours look at least this far back: a day has each hour once.
_HOURS_SECONDS = 7 * DAY
#: Charts of the server page that this one shows, too.
_CHARTS = ("checkpoint-age", "occupancy")


def read(
    server: Server, period: Period, parameters: Mapping[str, str], *, simulate: bool = True, part: bool = False
) -> dict[str, Any]:
    """The context of the template. Without ``simulate`` it holds the sizes' table only where it was made for the newest
    poll already, and says that it is ``pending`` otherwise; a ``part`` is the answer and the table alone.
    """
    snapshot = snapshots.latest(server.pk)
    context: dict[str, Any] = {
        "period": period,
        "ranges": [
            Choice(name, redo_table.address(parameters, range=name), name == period.name)
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
        found = redo_sizing.record(server, snapshot, period.started, period.ended)
    except redo.RedoUnknown as reason:
        return {
            **context,
            "said": Said("unknown", _("The size of the redo log is not known"), (str(reason),)),
            "empty": True,
        }
    digests = store().digests(server.pk, min(period.started, period.ended - _HOURS_SECONDS), period.ended)
    context |= _answer(found, period, parameters, digests, simulate=simulate)
    return context if part else {**context, **_known(found, period, digests)}


def _answer(
    found: Recording, period: Period, parameters: Mapping[str, str], digests: Sequence[HourlyDigest], *, simulate: bool
) -> dict[str, Any]:
    """The first sentence, the table of sizes, and how to set the chosen one."""
    snapshot = found.snapshot
    version = snapshot.identity.version
    objective = GOALS.get(parameters.get("goal", ""))
    sizing, refusal = redo_answers.answer(found, period, objective, simulate=simulate)
    pending = sizing is None and refusal is None
    if sizing is not None:
        said = redo_words.told(sizing)
    elif refusal is not None:
        said = redo_words.refused(refusal, found.measured)
    else:
        said = redo_words.awaited(found.measured)
    chosen = _chosen(sizing, found, parameters) if sizing is not None else None
    figures = RedoFigures(found.server.pk, period.started, period.ended, period.zone)
    goal = sizing.objective if sizing is not None else objective or redo_sizing.default_objective(found.settings)
    candidates = redo_sizing.candidates(snapshot, found.recorded.capacity_bytes, found.proposed)
    return {
        "said": said,
        "empty": False,
        "pending": pending,
        # A table that is refused after all takes the room that was kept for it.
        "late": simulate and found.refusal is None,
        "awaited_rows": [quantities.size(one.capacity_bytes) for one in candidates] if pending else [],
        "part_address": redo_table.address(parameters),
        "whole_address": redo_table.address(parameters, whole="1"),
        "capacity": redo.capacity_in_force(version, snapshot.variables, snapshot.status),
        "variable": redo.capacity_variable(version),
        "restart": not redo.resizable_online(version),
        "sizing": sizing,
        "rows": redo_table.rows(sizing, found, chosen, parameters, figures) if sizing is not None else [],
        "goal": redo_words.goal_words(goal),
        "goals": _goals(goal, parameters),
        "what_was_read": _what_was_read(found, period),
        "left_out": _left_out(found),
        "model": _model(sizing) if sizing is not None else "",
        "agreement": redo_words.agreement(sizing, found.proposed) if sizing is not None else "",
        "proposed": found.proposed,
        "set": _to_set(snapshot, chosen) if chosen is not None else None,
        "chosen": chosen,
        "strip": redo_table.strip(sizing, found, digests, figures) if refusal is None else [],
        "age_title": _("Age, 95 %% below") % {},
    }


def _known(found: Recording, period: Period, digests: Sequence[HourlyDigest]) -> dict[str, Any]:
    """What was seen: it takes no model, and stands on the page at once."""
    server, snapshot = found.server, found.snapshot
    charts, _snapshot = server_page.charts_of(server, period)
    figures = redo_table.hours_figures(RedoFigures(server.pk, period.started, period.ended, period.zone), digests)
    heat = redo_hours.heatmap(digests, timezone.get_current_timezone(), figures)
    age = charts.chart("checkpoint-age")
    unread = age is None or age.is_empty
    by_polls = period.seconds <= redo_sizing.LONGEST_BY_POLLS
    episodes, count = (
        redo_hours.episodes_of_samples(found.samples, server.pk)
        if by_polls
        else redo_hours.episodes_of_digests(found.digests, server.pk)
    )
    return {
        "remedy": _missing_age(snapshot) if unread and series.LSN not in snapshot.derived else None,
        "drawings": [one for one in drawings(charts) if one.id in _CHARTS],
        "pressure_p95": charts.pressure_p95,
        "written": redo_hours.written(digests, figures),
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


def _goals(chosen: Objective, parameters: Mapping[str, str]) -> list[Choice]:
    here = redo_words.goal_name(chosen)
    return [
        Choice(redo_words.goal_brief(objective), redo_table.address(parameters, goal=name), name == here)
        for name, objective in GOALS.items()
    ]


def _chosen(sizing: Sizing, found: Recording, parameters: Mapping[str, str]) -> Size | None:
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


def _what_was_read(found: Recording, period: Period) -> str:
    """``from 23 h 58 min of 24 h``; no day where the range says hours."""
    read, whole = found.recorded.read_seconds, round(period.seconds)
    words = _("24 h") if whole == DAY else quantities.duration(whole)
    if round(read / MINUTE) == round(whole / MINUTE):
        return _("from all of %(range)s") % {"range": words}
    return _("from %(read)s of %(range)s") % {
        "read": quantities.duration(round(read / MINUTE) * MINUTE or round(read)),
        "range": words,
    }


def _left_out(found: Recording) -> list[str]:
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
    said = _(
        "Tried on the second half of what was recorded, after being fitted on the first: 95th percentile %(simulated)s "
        "simulated, %(recorded)s recorded; ages off by %(mape)s on average."
    ) % {
        "simulated": percent(test.p95_simulated),
        "recorded": percent(test.p95_recorded),
        "mape": percent(test.mape),
    }
    if sizing.calibrated.tells_speed:
        return said
    alike = _(
        "These ages are explained as well by slow flushing as by fast, so that this trial proves little and the bands "
        "reach from one to the other."
    )
    return f"{said} {alike}"


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
