"""The time range of a page, as it stands in the address.

``?range=6h``; ``?from=...&to=...`` in unix milliseconds, as ``now-6h`` (links of Grafana paste in), or as a form's
``2026-11-21T03:10``; ``?range=since-change`` and ``since-restart``. ``&cmp=-7d`` compares with a week before,
``&tz=utc`` shows the times of UTC.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, tzinfo
from urllib.parse import urlencode

from advisor.engine.units import DAY, HOUR, MINUTE

RANGES: dict[str, int] = {
    "5m": 5 * MINUTE, "15m": 15 * MINUTE, "1h": HOUR, "6h": 6 * HOUR, "12h": 12 * HOUR, "24h": DAY, "2d": 2 * DAY,
    "7d": 7 * DAY, "30d": 30 * DAY,
}  # fmt: skip
#: Ranges that begin with the newest event of a kind and end now.
SINCE = ("since-change", "since-restart")
DEFAULT = "1h"
#: How far back a comparison may be asked for.
COMPARISONS: dict[str, int] = {"1h": HOUR, "1d": DAY, "7d": 7 * DAY, "28d": 28 * DAY}
_SHORTEST, _LONGEST = MINUTE, 400 * DAY
_UNITS = {"s": 1, "m": MINUTE, "h": HOUR, "d": DAY, "w": 7 * DAY}
_RELATIVE = re.compile(r"now(?:-(\d{1,6})([smhdw]))?")
_BACK = re.compile(r"-(\d{1,4})([hdw])")

#: Tells the newest instant (unix seconds) of one of SINCE; None where there was none.
Newest = Callable[[str], float | None]


@dataclass(frozen=True)
class Choice:
    name: str
    url: str
    here: bool


@dataclass(frozen=True)
class Period:
    """``started`` and ``ended`` are unix seconds; ``name`` is one of RANGES or SINCE, or empty for a range of its own.

    ``moves`` is true where the end is now: then the page refreshes itself. ``back_seconds`` is how far before the range
    lies that it is compared with, 0 where none is. ``zone`` is "utc" where the address asks for it. ``refused`` is true
    where the address named a range that makes no sense, and another is shown. ``kept`` are parameters of the page that
    every link of the range control keeps.
    """

    started: float
    ended: float
    name: str
    moves: bool
    back_seconds: int = 0
    zone: str = ""
    refused: bool = False
    kept: Mapping[str, str] = field(default_factory=dict)

    @property
    def seconds(self) -> float:
        return self.ended - self.started

    @property
    def query(self) -> str:
        """What leads to the same range again."""
        return urlencode({**self._range(), **self._rest()})

    @property
    def fixed(self) -> str:
        """What leads to exactly these instants, whenever it is followed."""
        return urlencode({**_instants(self.started, self.ended), **self._rest()})

    @property
    def home(self) -> str:
        """The address of the usual range."""
        return self._with(range=DEFAULT)

    @property
    def back(self) -> str:
        """The comparison as it stands in the address."""
        return self._rest().get("cmp", "")

    @property
    def choices(self) -> list[Choice]:
        return [Choice(name, self._with(range=name), name == self.name) for name in RANGES]

    @property
    def earlier(self) -> str:
        """The address of the range half of it earlier."""
        return self._moved(-self.seconds / 2)

    @property
    def later(self) -> str:
        """The address of the range half of it later; nothing where it ends now."""
        return "" if self.moves else self._moved(self.seconds / 2)

    @property
    def wider(self) -> str:
        """The address of twice the range about the same middle; about the end where that is now."""
        longer = min(self.seconds * 2, _LONGEST)
        if self.moves:
            name = next((one for one, seconds in RANGES.items() if abs(seconds - longer) < 1), "")
            return self._with(**({"range": name} if name else {"from": f"now-{round(longer)}s", "to": "now"}))
        middle = (self.started + self.ended) / 2
        return self._with(**_instants(middle - longer / 2, middle + longer / 2))

    @property
    def since(self) -> dict[str, str]:
        """The addresses of the ranges that begin with an event."""
        return {name.replace("-", "_"): self._with(range=name) for name in SINCE}

    @property
    def comparisons(self) -> list[Choice]:
        """With what it may be compared, the one that is shown marked; following that one again ends the comparison."""
        return [
            Choice(name, "?" + replace(self, back_seconds=0 if here else seconds).query, here)
            for name, seconds in COMPARISONS.items()
            for here in [self.back_seconds == seconds]
            if seconds >= self.seconds or here
        ]

    @property
    def other_zone(self) -> str:
        """The address of the same range in UTC, or back in the reader's own zone."""
        return "?" + replace(self, zone="" if self.zone == "utc" else "utc").query

    def local(self, zone: tzinfo) -> tuple[str, str]:
        """Both ends as a form's fields of date and time want them."""
        ends = (datetime.fromtimestamp(one, zone) for one in (self.started, self.ended))
        begun, ended = (f"{one:%Y-%m-%dT%H:%M}" for one in ends)
        return begun, ended

    def _range(self) -> dict[str, str]:
        if self.name:
            return {"range": self.name}
        if self.moves:
            return {"from": f"now-{round(self.seconds)}s", "to": "now"}
        return _instants(self.started, self.ended)

    def _rest(self) -> dict[str, str]:
        found = {}
        if self.back_seconds:
            unit, name = (DAY, "d") if self.back_seconds % DAY == 0 else (HOUR, "h")
            found["cmp"] = f"-{self.back_seconds // unit}{name}"
        if self.zone:
            found["tz"] = self.zone
        return {**found, **self.kept}

    def _with(self, **which: str) -> str:
        return "?" + urlencode({**which, **self._rest()})

    def _moved(self, seconds: float) -> str:
        return self._with(**_instants(self.started + seconds, self.ended + seconds))


def _instants(started: float, ended: float) -> dict[str, str]:
    return {"from": str(round(started * 1000)), "to": str(round(ended * 1000))}


def parse(
    parameters: Mapping[str, str],
    now: float,
    default: str = DEFAULT,
    *,
    newest: Newest | None = None,
    zone: tzinfo = UTC,
) -> Period:
    """The range that the address names; one that makes no sense falls back to the default, as a page must not fail on
    it, and says so (``refused``).

    ``newest`` tells when the last change or restart was, ``zone`` is that of times typed into a form.
    """
    zone = UTC if parameters.get("tz") == "utc" else zone
    found = _named(parameters, now, newest) or _between(parameters, now, zone)
    asked = any(parameters.get(name) for name in ("range", "from", "to"))
    if found is None:
        found = Period(now - RANGES[default], now, default, True, refused=asked)
    return replace(found, back_seconds=_back(parameters), zone="utc" if parameters.get("tz") == "utc" else "")


def _named(parameters: Mapping[str, str], now: float, newest: Newest | None) -> Period | None:
    name = parameters.get("range", "")
    if name in RANGES:
        return Period(now - RANGES[name], now, name, True)
    if name in SINCE and newest is not None:
        began = newest(name)
        if began is not None and now - began <= _LONGEST:
            # What just happened has no history yet: the shortest range shows the moments before it, too.
            return Period(min(began, now - _SHORTEST), now, name, True)
    return None


def _between(parameters: Mapping[str, str], now: float, zone: tzinfo) -> Period | None:
    if not (parameters.get("from") or parameters.get("to")):
        return None
    until = parameters.get("to") or "now"
    started, ended = instant(parameters.get("from", ""), now, zone), instant(until, now, zone)
    if started is None or ended is None or not _SHORTEST <= ended - started <= _LONGEST:
        return None
    relative = until == "now"
    known = next((one for one, seconds in RANGES.items() if relative and abs(ended - started - seconds) < 1), "")
    moves = relative and _RELATIVE.fullmatch(parameters.get("from", "")) is not None
    return Period(started, ended, known if moves else "", moves)


def _back(parameters: Mapping[str, str]) -> int:
    match = _BACK.fullmatch(parameters.get("cmp", ""))
    return min(int(match[1]) * _UNITS[match[2]], _LONGEST) if match else 0


def instant(text: str, now: float, zone: tzinfo) -> float | None:
    """Unix seconds of an instant as it stands in an address; None where the text is none."""
    match = _RELATIVE.fullmatch(text)
    if match:
        return now - (int(match[1]) * _UNITS[match[2]] if match[1] else 0)
    if re.fullmatch(r"\d{12,14}", text):
        return int(text) / 1000
    if re.fullmatch(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?", text):
        try:
            return datetime.fromisoformat(text).replace(tzinfo=zone).timestamp()
        except (ValueError, OverflowError):
            return None
    return None
