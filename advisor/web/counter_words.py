"""Counters in the words and units of a page: what they mean, what kind they are, and a value as a person reads it."""

from __future__ import annotations

from collections.abc import Mapping

from django.utils.translation import gettext as _

from advisor.mysql.meanings import Meaning, Told
from advisor.ui import quantities


def words(known: Meaning | None) -> str:
    """The meaning in the reader's language."""
    return _("no description known") if known is None else _(known.text).format(**known.words)


def told(known: Meaning | None, name: str, kinds: Mapping[str, str]) -> str:
    """What kind of number it is, in the reader's language."""
    if known is None:
        return _("gauge") if kinds.get(name) == "gauge" else _("counter")
    titles = {
        Told.COUNTER: _("counter"), Told.GAUGE: _("gauge"), Told.MARK: _("high-water mark"),
        Told.POSITION: _("position"), Told.TEXT: _("text"),
    }  # fmt: skip
    return titles[known.told]


def in_unit(value: float, unit: str) -> str:
    """A value with its unit as a person reads it."""
    if unit in ("bytes", "bytes/s"):
        text = quantities.size(value) if abs(value) >= 0.01 or value == 0 else f"{_number(value)} B"
        return text + ("/s" if unit == "bytes/s" else "")
    if unit == "ratio":
        return quantities.percent(value)
    if unit == "percent":
        return f"{_number(value)} %"
    if unit == "1/s":
        return f"{_number(value)} /s"
    return _number(value) + (f" {unit}" if unit != "count" else "")


def _number(value: float) -> str:
    """A number of which something is left where it is small: a thousandth of a page per transaction is not none."""
    if value == 0 or abs(value) >= 0.01:
        return quantities.number(value)
    return f"{value:.2g}" if abs(value) >= 0.0001 else "< 0.0001"


def unit_title(unit: str) -> str:
    """What a chart's caption calls the unit."""
    titles = {
        "1/s": _("per second"), "bytes": _("bytes"), "bytes/s": _("bytes per second"), "count": _("as read"),
        "ratio": _("share"), "percent": "%", "pages": _("pages"), "pages/s": _("pages per second"),
        "s": _("seconds"), "ms/s": _("ms per second"), "s/s": _("seconds per second"),
    }  # fmt: skip
    return titles.get(unit, unit)
