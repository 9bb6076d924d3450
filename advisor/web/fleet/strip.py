"""The last 24 hours of the fleet: a row for each group, a cell for each hour, drawn from the counted groups alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from advisor.recommendations.fleet_hours import HOUR, HOURS, hour_of
from advisor.recommendations.models import FleetGroup
from advisor.ui import quantities

#: Groups that are shown before somebody asks for more: what fits beside the card of things that wait.
GROUPS = 10
#: Shades of the scale of pressure, from 0 to the point at which writers wait.
SHADES = 8
#: Every so many hours the head names one.
_NAMED = 3


@dataclass(frozen=True)
class Cell:
    """``shade`` is a class of the style sheet, ``words`` tell all that the colour does."""

    shade: str
    mark: str
    words: str


@dataclass(frozen=True)
class Line:
    """One group. ``name`` is "" for servers without one."""

    name: str
    servers: int
    cells: Sequence[Cell]


@dataclass(frozen=True)
class Strip:
    """``hours`` names the columns, "" where the head has no room; ``further`` are groups that are not shown."""

    lines: Sequence[Line]
    hours: Sequence[tuple[str, str]]
    further: int


def read(groups: Sequence[FleetGroup], further: int, now: float) -> Strip:
    """The strip of these groups, whose newest hours may be an hour old."""
    first = hour_of(now) - (HOURS - 1) * HOUR
    names = []
    for place in range(HOURS):
        hour = timezone.localtime(datetime.fromtimestamp(first + place * HOUR, UTC))
        names.append((f"{hour:%H:%M}", f"{hour:%H}" if (HOURS - 1 - place) % _NAMED == 0 else ""))
    lines = [
        Line(
            group.name,
            group.servers,
            [_cell(hour, name) for hour, (name, _short) in zip(_moved(group, first), names, strict=True)],
        )
        for group in groups
    ]
    return Strip(lines, names, further)


def _moved(group: FleetGroup, first: int) -> list[Sequence[float] | None]:
    """The 24 hours from ``first`` on: counting may be a minute behind the clock that turned to a new hour."""
    began = group.hour_at - (HOURS - 1) * HOUR
    known = group.hours if isinstance(group.hours, list) else []
    places = [(first - began) // HOUR + place for place in range(HOURS)]
    return [known[place] if 0 <= place < len(known) else None for place in places]


def _cell(hour: Sequence[float] | None, name: str) -> Cell:
    if hour is None:
        return Cell("none", "", _("%(hour)s: nothing known") % {"hour": name})
    pressure, warning, critical, servers = hour
    words = _("%(hour)s: at most %(pressure)s of the sync point") % {
        "hour": name,
        "pressure": quantities.percent(pressure),
    }
    if critical:
        words += "; " + _("writers waited for %(time)s on one server") % {"time": quantities.duration(round(critical))}
    elif warning:
        words += "; " + _("in warning for %(time)s on one server") % {"time": quantities.duration(round(warning))}
    if servers > 1:
        words += " " + ngettext("(%(n)s server in trouble)", "(%(n)s servers in trouble)", int(servers)) % {
            "n": int(servers)
        }
    if critical:
        return Cell("critical", "×", words)
    if warning:
        return Cell("warning", "▴", words)
    return Cell(f"p{min(int(pressure * SHADES), SHADES - 1)}", "", words)
