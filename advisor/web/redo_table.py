"""The table of sizes on the redo page, and the strip above it: what was measured as links, what is estimated not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from django.utils.translation import gettext as _

from advisor.engine.units import HOUR, WEEK
from advisor.mysql.digest import HourlyDigest
from advisor.recommendations.redo_sizing import Recording
from advisor.ui import quantities
from advisor.ui.quantities import percent
from advisor.web import redo_hours, redo_words
from advisor.web.figure_links import RedoFigures, bold
from advisor.whatif.sizing import Size, Sizing


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


def rows(
    sizing: Sizing, found: Recording, chosen: Size | None, parameters: Mapping[str, str], figures: RedoFigures
) -> list[Row]:
    """The table: as many rows before the sizes were simulated as after it."""
    proposed = found.proposed.capacity_bytes if found.proposed is not None else 0
    found_rows = []
    for one in sizing.sizes:
        state, verdict = redo_words.verdict_words(one.verdict, measured=one.measured)
        p95 = redo_words.between(one.p95, redo_words.rounded_percent)
        above = redo_words.between(one.above_async, redo_words.rounded_percent)
        waits = redo_words.between(one.waiting_hours_per_week, _hours_a_week)
        if one.measured and found.measured is not None:
            p95 = figures.of_polls(p95, one.p95.high, "p95-of-histogram")
            above = figures.of_polls(above, one.above_async.high, "share-above-async")
            waits = figures.of_polls(waits, one.waiting_hours_per_week.high, "hours-a-week-at-limit")
        found_rows.append(
            Row(
                size=quantities.size(one.capacity_bytes),
                exact=one.capacity_bytes,
                p95=p95,
                above=above,
                waits=waits,
                recovery=redo_words.between(one.recovery_seconds, redo_words.recovery),
                disk=redo_words.disk(one.disk_bytes),
                state=state,
                verdict=verdict,
                measured=one.measured,
                proposed=one.capacity_bytes == proposed,
                chosen=one is chosen,
                address="" if one.measured else address(parameters, size=str(one.capacity_bytes)) + "#set",
            )
        )
    return found_rows


def _hours_a_week(hours: float) -> str:
    return quantities.number(round(hours, 1))


def strip(
    sizing: Sizing | None,
    found: Recording,
    digests: Sequence[HourlyDigest],
    figures: RedoFigures,
) -> list[tuple[str, str, str]]:
    """Name, figure and what it is of: what was measured stands there before any size was simulated."""
    written = redo_hours.written(digests, hours_figures(figures, digests))
    shown: list[tuple[str, str, str]] = []
    present = sizing.present if sizing is not None else None
    if found.measured is not None:
        p95, above, waiting = found.measured
        week = waiting * WEEK / HOUR
        shown = [
            (_("Age, 95 %% below") % {}, figures.of_polls(percent(p95), p95, "p95-of-histogram"), _("of its limit")),
            (_("Above async"), figures.of_polls(percent(above), above, "share-above-async"), _("of the time")),
            (_("Writers wait"), figures.of_polls(_hours_a_week(week), week, "hours-a-week-at-limit"), _("h/week")),
        ]
    elif present is not None:
        shown = [
            (_("Age, 95 %% below") % {}, bold(percent(present.p95.high)), _("of its limit")),
            (_("Above async"), bold(percent(present.above_async.high)), _("of the time")),
            (_("Writers wait"), bold(_hours_a_week(present.waiting_hours_per_week.high)), _("h/week")),
        ]
    if not shown:
        return []
    recovery = "…" if present is None else redo_words.between(present.recovery_seconds, redo_words.recovery)
    smallest = "…"
    if sizing is not None:
        smallest = quantities.NOTHING if sizing.smallest is None else quantities.size(sizing.smallest.capacity_bytes)
    return [
        *shown,
        (_("Busiest hour"), bold(quantities.NOTHING) if written is None else written.most, _("of redo")),
        (_("Crash recovery"), bold(recovery), _("estimated")),
        (_("Smallest that holds"), bold(smallest), ""),
    ]


def hours_figures(figures: RedoFigures, digests: Sequence[HourlyDigest]) -> RedoFigures:
    """Figures of hours look further back than the range: over exactly the hours that were read."""
    if not digests:
        return figures
    return replace(figures, started=float(digests[0].hour_at), ended=float(digests[-1].hour_at + HOUR))


def address(parameters: Mapping[str, str], **changed: str) -> str:
    """The same page with something else chosen."""
    kept = {name: parameters[name] for name in ("range", "from", "to", "tz", "goal", "size") if name in parameters}
    if "range" in changed:
        kept.pop("from", None)
        kept.pop("to", None)
    return "?" + urlencode({**kept, **changed})
