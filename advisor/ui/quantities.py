"""Numbers with their units, in the language of the page. A number never stands without its unit."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from advisor.engine.units import DAY, HOUR, MINUTE, Quantity, Unit

_BYTE_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
#: The unit of an instant in a stored message: unix seconds, shown in the reader's zone.
INSTANT = "instant"
#: What stands where there is no figure: an en dash, so that an empty cell is seen to be meant.
NOTHING = "–"
#: Besides the engine's units: unix seconds in a stored message, shown in the reader's zone.
INSTANT = "instant"


def number(value: float) -> str:
    """Three significant digits below 100, thousands separated above: ``0.42``, ``7.5``, ``41.3``, ``1,204``."""
    size = abs(value)
    if size >= 100 or value == int(value):
        return f"{value:,.0f}"
    text = f"{value:.1f}" if size >= 10 else f"{value:.2f}"
    return text.rstrip("0").rstrip(".") if size < 10 else text


def size(value: float) -> str:
    """Bytes in binary units: ``256 MiB``, ``1.5 GiB``."""
    amount, unit = split_size(value)
    return f"{number(amount)} {unit}"


def split_size(value: float) -> tuple[float, str]:
    """Bytes as an amount and its binary unit."""
    amount, unit = float(value), _BYTE_UNITS[0]
    for unit in _BYTE_UNITS:
        if abs(amount) < 1024 or unit == _BYTE_UNITS[-1]:
            break
        amount /= 1024
    return amount, unit


def percent(ratio: float) -> str:
    """``71.2 %`` of 0.712."""
    return f"{number(round(ratio * 100, 1))} %"


def duration(seconds: float) -> str:
    """``0.4 s``, ``45 s``, ``12 min``, ``1 h 12 min``, ``2 d 3 h``: at most the two largest parts."""
    if abs(seconds) < 10 and seconds != int(seconds):
        return _part(seconds, "s")
    rest, parts = round(seconds), []
    for length, name in ((DAY, "d"), (HOUR, "h"), (MINUTE, "min"), (1, "s")):
        amount, rest = divmod(rest, length)
        if amount:
            parts.append(_part(amount, name))
        elif parts:
            break
        if len(parts) == 2 or (parts and name == "min" and amount >= 10):
            break
    return " ".join(parts) or _part(0, "s")


def _part(amount: float, name: str) -> str:
    text = number(amount)
    if name == "d":
        return pgettext("duration", "%(n)s d") % {"n": text}
    if name == "h":
        return pgettext("duration", "%(n)s h") % {"n": text}
    if name == "min":
        return pgettext("duration", "%(n)s min") % {"n": text}
    return pgettext("duration", "%(n)s s") % {"n": text}


def ago(then: datetime, now: datetime | None = None) -> str:
    """``4 s ago``, ``3 min ago``; something of the future (another machine's clock) is now."""
    seconds = int(max(((now or datetime.now(UTC)) - then).total_seconds(), 0))
    step = next((step for step in (DAY, HOUR, MINUTE) if seconds >= 2 * step), 1)
    return _("%(duration)s ago") % {"duration": duration(seconds // step * step)}


def instant(when: datetime) -> str:
    """In the reader's zone: the time alone today, with the date on other days."""
    local, today = timezone.localtime(when), timezone.localtime()
    if local.date() == today.date():
        return local.strftime("%H:%M")
    if local.year == today.year:
        return local.strftime("%m-%d %H:%M")
    return local.strftime("%Y-%m-%d %H:%M")


def span(started: datetime, ended: datetime) -> str:
    """A window of time: ``02:51–03:02 (11 min)``."""
    length = duration(max((ended - started).total_seconds(), 0))
    if ended - started < timedelta(hours=20) and timezone.localtime(started).date() == timezone.localtime(ended).date():
        return f"{instant(started)}–{timezone.localtime(ended).strftime('%H:%M')} ({length})"
    return f"{instant(started)} – {instant(ended)} ({length})"


def servers(count: int) -> str:
    return ngettext("%(n)s server", "%(n)s servers", count) % {"n": f"{count:,}"}


def quantity(value: object, unit: str) -> str:
    """A figure with one of the units of ``advisor.engine.units``; a text, and what is no number, stays as it is."""
    if value is None:
        return NOTHING
    if isinstance(value, bool) or not isinstance(value, int | float) or unit == Unit.TEXT:
        return str(value)
    if unit == INSTANT:
        return instant(datetime.fromtimestamp(value, UTC))
    if unit == Unit.BYTES:
        return size(value)
    if unit == Unit.BYTES_PER_SECOND:
        return f"{size(value)}/s"
    if unit == Unit.PER_SECOND:
        return f"{number(value)} /s"
    if unit == Unit.PAGES_PER_SECOND:
        return _("%(n)s pages/s") % {"n": number(value)}
    if unit == Unit.RATIO:
        return percent(value)
    if unit == Unit.SECONDS:
        return duration(value)
    if unit == INSTANT:
        return instant(datetime.fromtimestamp(value, UTC))
    return number(value)


def of(quantity_: Quantity) -> str:
    """A ``Quantity`` in words."""
    return quantity(quantity_.value, quantity_.unit)


#: Variables that are counted in bytes, by the end of their names; other numbers of that size are no bytes.
_BYTES = ("_size", "_log_capacity", "_bytes")


def setting(value: object, name: str) -> str:
    """A system variable's value as a person reads it: ``512 MiB`` of 536870912 where it is counted in bytes."""
    text = str(value)
    return size(int(text)) if text.isdigit() and int(text) >= 1024 and name.endswith(_BYTES) else text
