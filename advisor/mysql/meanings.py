"""What a status variable or an innodb_metrics counter means: a sentence, its unit, and what kind of number it is.

The facts stand in ``data/status_meanings.tsv``, a line for a name or for a family of names. Names are spelled as in the
sample history: status variables as the server spells them, innodb_metrics counters as ``metrics.<name>`` (polls keep
some without the prefix), derived series as in ``series``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, lru_cache
from importlib.resources import files

from advisor.mysql import series
from advisor.mysql.counters import METRICS_PREFIX

#: Units that the API and the pages spell otherwise, and those that are kept when a series is told per second.
_WORDS = {"%": "percent", "rows": "count", "blocks": "count"}
_PER_SECOND = ("bytes", "pages", "ms", "µs", "ns", "s")


class Told(StrEnum):
    """What kind of thing a server tells under a name. A mark is the greatest value that was ever seen."""

    COUNTER = "counter"
    GAUGE = "gauge"
    MARK = "mark"
    POSITION = "position"
    TEXT = "text"


@dataclass(frozen=True)
class Meaning:
    """``text`` is a sentence with at most one hole, ``{word}`` or ``{WORD}``, that ``words`` fills; so that a page can
    translate it first. ``unit`` is empty for plain numbers of things.
    """

    told: Told
    unit: str
    text: str
    words: Mapping[str, str]

    def __str__(self) -> str:
        return self.text.format(**self.words)


def meaning(name: str) -> Meaning | None:
    """What is known of the name; None where no description is known, which pages say."""
    return _find(name) or (None if name.startswith(METRICS_PREFIX) else _find(METRICS_PREFIX + name))


@dataclass(frozen=True)
class _Line:
    start: str
    end: str
    told: Told
    unit: str
    text: str

    def fits(self, name: str) -> bool:
        long_enough = len(name) >= len(self.start) + len(self.end)
        return long_enough and name.startswith(self.start) and name.endswith(self.end)


@lru_cache(maxsize=4096)
def _find(name: str) -> Meaning | None:
    whole, families = _lines()
    line = whole.get(name) or next((one for one in families if one.fits(name)), None)
    if line is None:
        return None
    word = name[len(line.start) : len(name) - len(line.end)].replace("_", " ").strip()
    return Meaning(line.told, line.unit, line.text, {"word": word, "WORD": word.upper()})


@cache
def _lines() -> tuple[Mapping[str, _Line], Sequence[_Line]]:
    """Whole names, and families in the order in which they are tried."""
    text = (files("advisor.mysql") / "data" / "status_meanings.tsv").read_text(encoding="utf-8")
    lines = [line.split("\t") for line in text.splitlines() if line and not line.startswith("#")]
    whole: dict[str, _Line] = {}
    families = []
    for name, told, unit, sentence in lines[1:]:
        start, star, end = name.partition("*")
        line = _Line(start, end, Told(told), unit, sentence)
        if star:
            families.append(line)
        else:
            whole[name] = line
    return whole, families


def sentences() -> list[str]:
    """Every sentence of the file, as it has to be translated."""
    whole, families = _lines()
    return sorted({line.text for line in (*whole.values(), *families)})


def series_unit(name: str, *, rate: bool) -> str:
    """The unit of a series as the history tells it, in one word of the API; ``rate``: as change per second."""
    known = meaning(name)
    if name == series.PRESSURE:
        return "ratio"
    if name == series.DIRTY_PERCENT:
        return "percent"
    unit = known.unit if known is not None else ""
    if not rate:
        return _WORDS.get(unit, unit) or "count"
    return f"{unit}/s" if unit in _PER_SECOND else "1/s"
