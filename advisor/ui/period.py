"""The time range of a page, as it stands in the address: ``?range=6h``, or ``?from=...&to=...``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from advisor.engine.units import DAY, HOUR, MINUTE

RANGES: dict[str, int] = {
    "15m": 15 * MINUTE, "1h": HOUR, "6h": 6 * HOUR, "24h": DAY, "7d": 7 * DAY, "30d": 30 * DAY,
}  # fmt: skip
DEFAULT = "1h"
_SHORTEST, _LONGEST = MINUTE, 400 * DAY
_UNITS = {"s": 1, "m": MINUTE, "h": HOUR, "d": DAY}
_RELATIVE = re.compile(r"now(?:-(\d{1,6})([smhd]))?")


@dataclass(frozen=True)
class Choice:
    name: str
    url: str
    here: bool


@dataclass(frozen=True)
class Period:
    """``started`` and ``ended`` are unix seconds; ``name`` is one of RANGES, or empty for a range of its own.

    ``moves`` is true where the end is now: then the page refreshes itself.
    """

    started: float
    ended: float
    name: str
    moves: bool

    @property
    def seconds(self) -> float:
        return self.ended - self.started

    @property
    def query(self) -> str:
        """What leads to the same range again."""
        if self.name:
            return urlencode({"range": self.name})
        return urlencode({"from": round(self.started * 1000), "to": round(self.ended * 1000)})

    @property
    def choices(self) -> list[Choice]:
        return [Choice(name, f"?range={name}", name == self.name) for name in RANGES]


def parse(parameters: Mapping[str, str], now: float, default: str = DEFAULT) -> Period:
    """The range that the address names; one that makes no sense falls back to the default, as a page must not fail on
    it.

    ``from`` and ``to`` are unix milliseconds or ``now-6h``, as Grafana writes them, so that its links can be pasted.
    """
    name = parameters.get("range", "")
    if name not in RANGES and ("from" in parameters or "to" in parameters):
        started = _instant(parameters.get("from", ""), now)
        ended = _instant(parameters.get("to", "now"), now)
        if started is not None and ended is not None and _SHORTEST <= ended - started <= _LONGEST:
            relative = parameters.get("to", "now") == "now"
            known = next(
                (one for one, seconds in RANGES.items() if relative and abs(ended - started - seconds) < 1), ""
            )
            return Period(started, ended, known, relative)
    if name not in RANGES:
        name = default
    return Period(now - RANGES[name], now, name, True)


def _instant(text: str, now: float) -> float | None:
    match = _RELATIVE.fullmatch(text)
    if match:
        return now - (int(match[1]) * _UNITS[match[2]] if match[1] else 0)
    if re.fullmatch(r"\d{12,14}", text):
        return int(text) / 1000
    return None
