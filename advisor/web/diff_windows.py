"""Which two windows the address of the before/after page names.

``a_from``, ``a_to``, ``b_from``, ``b_to``: unix milliseconds, ``now-2h``, or a form's ``2026-11-21T03:10``. Or ``at``,
an event: the ``width`` seconds before it against as many after it, ``settle`` seconds left out in between. Without any,
the last hour against the same hour a week ago, or against the hour before where the server was not watched then.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import tzinfo
from urllib.parse import urlencode

from django.utils.translation import gettext as _

from advisor.engine.units import HOUR, MINUTE, WEEK
from advisor.recommendations.comparing import LONGEST_SECONDS, SHORTEST_SECONDS, has_readings
from advisor.ui.period import instant
from collector.models import Server

#: How long each window around an event is, and how long things are given to settle after it.
AROUND_SECONDS, SETTLE_SECONDS = HOUR, 5 * MINUTE
_ENDS = ("a_from", "a_to", "b_from", "b_to")


@dataclass(frozen=True)
class Windows:
    """Both windows in unix seconds; ``why`` says how they were chosen, ``refused`` that the address made no sense.

    ``weak``: chosen without a wish, from the hour before, since nothing older is known.
    """

    a_from: float
    a_to: float
    b_from: float
    b_to: float
    why: str = ""
    weak: bool = False
    refused: bool = False

    @property
    def query(self) -> str:
        """What leads to exactly these windows."""
        return urlencode({name: round(getattr(self, name) * 1000) for name in _ENDS})

    @property
    def settled_seconds(self) -> float:
        """What lies between both windows; below 0 where they overlap."""
        return self.b_from - self.a_to


@dataclass(frozen=True)
class Preset:
    title: str
    query: str


def asked(parameters: Mapping[str, str], server: Server, now: float, zone: tzinfo) -> Windows:
    """The windows of the address; ones that make no sense fall back to the usual ones and say so."""
    found = _around(parameters, now, zone) if parameters.get("at") else _four(parameters, now, zone)
    if found is not None:
        return found
    wished = any(parameters.get(name) for name in ("at", *_ENDS))
    return _usual(server, now, refused=wished)


def _four(parameters: Mapping[str, str], now: float, zone: tzinfo) -> Windows | None:
    ends = [instant(parameters.get(name, ""), now, zone) for name in _ENDS]
    known = [end for end in ends if end is not None]
    if len(known) < len(ends):
        return None
    found = Windows(known[0], known[1], known[2], known[3])
    fine = all(SHORTEST_SECONDS <= seconds <= LONGEST_SECONDS for seconds in (known[1] - known[0], known[3] - known[2]))
    return found if fine else None


def _around(parameters: Mapping[str, str], now: float, zone: tzinfo) -> Windows | None:
    at = instant(parameters["at"], now, zone)
    width = _seconds(parameters.get("width", ""), AROUND_SECONDS)
    settle = _seconds(parameters.get("settle", ""), SETTLE_SECONDS)
    if at is None or at >= now or not SHORTEST_SECONDS <= width <= LONGEST_SECONDS:
        return None
    since = now - at
    # What happened a moment ago is shown by what there is: a quarter of it to settle, the rest to compare.
    settle = min(settle, since / 4)
    width = min(width, since - settle)
    if width < SHORTEST_SECONDS:
        return None
    return Windows(at - width, at, at + settle, at + settle + width, why=_("around what happened at this moment"))


def _seconds(text: str, default: float) -> float:
    return float(text) if text.isascii() and text.isdigit() and len(text) < 9 else default


def _usual(server: Server, now: float, *, refused: bool = False) -> Windows:
    began = now - HOUR
    if has_readings(server, began - WEEK, now - WEEK):
        why = _("the last hour against the same hour a week ago")
        return Windows(began - WEEK, now - WEEK, began, now, why=why, refused=refused)
    why = _("the last hour against the hour before: nothing is known of the same hour a week ago")
    return Windows(began - HOUR, began, began, now, why=why, weak=True, refused=refused)


def presets(last_change: float | None, last_restart: float | None) -> list[Preset]:
    """Pairs of windows that people ask for, ending now; those around an event only where there was one."""

    def pair(title: str, width: str, back: str, until: str) -> Preset:
        ends = {"a_from": f"now-{back}", "a_to": f"now-{until}", "b_from": f"now-{width}", "b_to": "now"}
        return Preset(title, urlencode(ends))

    found = [
        pair(_("15 min against the 15 before"), "15m", "30m", "15m"),
        pair(_("hour against the hour before"), "1h", "2h", "1h"),
        pair(_("hour against yesterday's"), "1h", "25h", "24h"),
        pair(_("hour against last week's"), "1h", "169h", "168h"),
        pair(_("day against the day before"), "24h", "48h", "24h"),
        pair(_("week against the week before"), "7d", "14d", "7d"),
    ]
    for title, at in ((_("around the last change"), last_change), (_("around the last restart"), last_restart)):
        if at is not None:
            found.append(Preset(title, urlencode({"at": round(at * 1000)})))
    return found
