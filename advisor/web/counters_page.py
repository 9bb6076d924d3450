"""All numbers of one server: found by name or meaning, and charted on demand.

The address holds everything: ``?name=a&name=b`` with the time range and the search, so that a link reproduces what is
shown. Names are series of the polls, status variables, or ``metrics.<name>``.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import urlencode

import numpy as np
from django.utils import timezone
from django.utils.translation import gettext as _

from advisor.mysql import series
from advisor.mysql.meanings import meaning, series_unit
from advisor.recommendations.comparing import Window, compare_windows
from advisor.ui import quantities
from advisor.ui.charts import svg
from advisor.ui.charts.chart import Axis, Chart, Trace
from advisor.ui.charts.export import COLUMNS
from advisor.ui.charts.figure import table, table_body
from advisor.ui.period import Period
from advisor.web.counter_words import in_unit, told, unit_title, words
from collector.models import Server
from collector.store import Buckets, RecordedGap, SeriesKind, store

#: At most so many names are charted at once, and so many listed before the reader asks for all, also beside charts.
MOST_NAMES, LISTED, LISTED_BESIDE = 8, 40, 10
#: A name that no server could have.
_LONGEST_NAME = 80
_POINTS = 300
#: Colours of the lines of one chart; more lines than colours make another chart.
_ROLES = ("age", "second", "good", "async")
#: What moved is looked for by comparing the last part of the range with its first, each at most this long.
_HALF_SECONDS = 3600
_MOVED = 10


@dataclass(frozen=True)
class Entry:
    """One name as a list shows it. ``url`` charts it beside what is charted already."""

    name: str
    told: str
    unit: str
    text: str
    last: str
    url: str
    shown: bool


@dataclass(frozen=True)
class Facts:
    """One charted name in figures of the range; texts with their units, an en dash where nothing is known."""

    entry: Entry
    now: str
    least: str
    mean: str
    greatest: str
    without: str


@dataclass(frozen=True)
class Figure:
    """One chart as the template shows it."""

    id: str
    title: str
    caption: str
    sentence: str
    svg: str
    keys: Sequence[tuple[str, str]]
    names: Sequence[str]
    rows: str
    started: float
    ended: float


def asked_names(parameters: Mapping[str, Sequence[str]]) -> list[str]:
    """The names of the address, each once; what cannot be a name is left out."""
    found = [name for key in ("name", "names") for text in parameters.get(key, ()) for name in text.split(",")]
    return [name for name in dict.fromkeys(found) if 0 < len(name) <= _LONGEST_NAME][:MOST_NAMES]


class Catalogue:
    """Every name of the newest snapshot and the series of the polls, with the address that charts each."""

    def __init__(self, server: Server, chosen: Sequence[str], query: str) -> None:
        names = store().counter_names(server.pk)
        self._last: dict[str, float] = {one.name: one.last for one in names}
        self.kinds: dict[str, str] = {one.name: one.kind for one in names}
        newest = store().latest(server.pk)
        if newest is not None:
            self._last |= {name: value for name, value in newest.values.items() if name in series.DERIVED}
        self.chosen, self._query = list(chosen), query
        self.count = len(self._last)

    def entry(self, name: str) -> Entry:
        known = meaning(name)
        last = self._last.get(name)
        unit = series_unit(name, rate=False)
        charted = self.chosen if name in self.chosen else [*self.chosen, name][-MOST_NAMES:]
        return Entry(
            name=name,
            told=told(known, name, self.kinds),
            unit="" if unit == "count" else unit_title(unit),
            text=words(known),
            last=quantities.NOTHING if last is None else in_unit(last, unit),
            url=self.address(charted),
            shown=name in self.chosen,
        )

    def address(self, names: Sequence[str]) -> str:
        """The page with these names charted, in the same range."""
        return "?" + "&".join(part for part in (urlencode([("name", name) for name in names]), self._query) if part)

    def found(self, search: str) -> list[str]:
        """Names of which every word of the search is in the name or the meaning; names that begin with it first."""
        wanted = search.casefold().split()
        names = sorted(self._last, key=str.casefold)
        if wanted:
            names = [name for name in names if _has(name, wanted)]
            names.sort(key=lambda name: (not name.casefold().startswith(wanted[0]), wanted[0] not in name.casefold()))
        return names


def _has(name: str, wanted: Sequence[str]) -> bool:
    known = meaning(name)
    text = f"{name} {known or ''} {words(known)}".casefold()
    return all(word in text for word in wanted)


def moved_most(server: Server, period: Period) -> tuple[list[str], int]:
    """Names that changed most between the first and the last part of the range, and how long each part is."""
    seconds = min(period.seconds / 2, _HALF_SECONDS)
    found = compare_windows(
        Window(server, period.started, period.started + seconds), Window(server, period.ended - seconds, period.ended)
    )
    if found is None:
        return [], round(seconds)
    ordered = [change for change in found.ordered(per_work=found.per_work) if not change.still]
    return [change.name for change in ordered if change.score(per_work=found.per_work) >= 1][:_MOVED], round(seconds)


class Course:
    """The buckets of the chosen names over the range, and what is told of them."""

    def __init__(self, server: Server, names: Sequence[str], period: Period, points: int = _POINTS) -> None:
        self.names, self.period = list(names), period
        self.buckets: Buckets = store().buckets(server.pk, self.names, period.started, period.ended, points)
        self.gaps: list[RecordedGap] = store().gaps(server.pk, period.started, period.ended)

    def unit(self, name: str) -> str:
        return series_unit(name, rate=self.buckets.series[name].kind is SeriesKind.RATE)

    def has(self, name: str) -> bool:
        return bool(np.isfinite(self.buckets.series[name].last).any())

    def facts(self, name: str, catalogue: Catalogue) -> Facts:
        one, unit = self.buckets.series[name], self.unit(name)
        rest = [other for other in self.names if other != name]
        now = least = mean = greatest = quantities.NOTHING
        if self.has(name):
            known = one.last[np.isfinite(one.last)]
            values = (known[-1], np.nanmin(one.least), known.mean(), np.nanmax(one.greatest))
            now, least, mean, greatest = (in_unit(float(value), unit) for value in values)
        return Facts(catalogue.entry(name), now, least, mean, greatest, without=catalogue.address(rest))

    def charts(self) -> list[Chart]:
        """Names of one unit share a chart, as long as there are colours; others stand in charts of their own."""
        groups: dict[str, list[str]] = {}
        for name in self.names:
            groups.setdefault(self.unit(name), []).append(name)
        shown: list[Chart] = []
        for unit, names in groups.items():
            for begin in range(0, len(names), len(_ROLES)):
                shown.append(self._chart(f"counters-{len(shown) + 1}", names[begin : begin + len(_ROLES)], unit))
        return shown

    def figures(self) -> list[Figure]:
        """The charts as the template shows them."""
        return [_figure(chart) for chart in self.charts()]

    def _chart(self, chart_id: str, names: Sequence[str], unit: str) -> Chart:
        traces = [
            Trace(name, role, self.buckets.points(name), filled=len(names) == 1, band=len(names) == 1, key=name)
            for name, role in zip(names, _ROLES, strict=False)
        ]
        known = [name for name in names if self.has(name)]
        if known:
            sentence = "; ".join(self._sentence(name, unit) for name in known) + "."
        else:
            sentence = _("Nothing was read under this name in this time.")
        return Chart(
            id=chart_id,
            title=", ".join(names),
            caption=unit_title(unit),
            axis=Axis(
                lambda value: in_unit(value, unit.removesuffix("/s") if unit.startswith("bytes") else _bare(unit)),
                base=1024 if unit.startswith("bytes") else 10,
            ),
            started=self.period.started * 1000,
            ended=self.period.ended * 1000,
            traces=traces,
            gaps=[(gap.started_at * 1000, (gap.ended_at or self.period.ended) * 1000, gap.why) for gap in self.gaps],
            sentence=sentence,
            missing=_("Nothing was read under this name in this time."),
            tall=True,
            unit=unit,
        )

    def _sentence(self, name: str, unit: str) -> str:
        one = self.buckets.series[name]
        return _("%(name)s between %(least)s and %(most)s") % {
            "name": name,
            "least": in_unit(float(np.nanmin(one.least)), unit),
            "most": in_unit(float(np.nanmax(one.greatest)), unit),
        }

    def csv(self) -> str:
        """One row for each bucket of each name, as exports of charts have them."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(COLUMNS)
        for name in self.names:
            for point in self.buckets.points(name):
                if point is not None:
                    at = datetime.fromtimestamp(point[0] / 1000, UTC).isoformat(timespec="milliseconds")
                    writer.writerow((at.replace("+00:00", "Z"), point[0], name, self.unit(name), *map(repr, point[1:])))
        return text.getvalue()


def keys(chart: Chart) -> list[tuple[str, str, str]]:
    """Role, kind and name of each line; nothing where there is but one, which the title names."""
    return [(trace.role, "line", trace.name) for trace in chart.traces] if len(chart.traces) > 1 else []


def _figure(chart: Chart) -> Figure:
    zone = timezone.get_current_timezone()
    names, rows = table(chart)
    return Figure(
        id=chart.id,
        title=chart.title,
        caption=chart.caption,
        sentence=chart.sentence,
        svg=svg.render(chart, zone),
        keys=[(role, name) for role, _kind, name in keys(chart)],
        names=names,
        rows=table_body(rows, zone),
        started=chart.started,
        ended=chart.ended,
    )


def _bare(unit: str) -> str:
    """The unit of an axis' label: the caption has the rest."""
    return unit if unit in ("ratio", "percent") else "count"
