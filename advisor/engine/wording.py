"""English words for messages and quantities, for text output, JSON and mails. Pages format the same values in their
own way.

The templates of messages are what is translated; the values are put in only here, at the end.
"""

from __future__ import annotations

from collections.abc import Callable

from advisor.engine.outcome import Measured, Message
from advisor.engine.units import DAY, HOUR, MINUTE, Quantity, Unit
from advisor.mysql.values import human_size


def seconds_text(value: float) -> str:
    """``0.4 s``, ``45 s``, ``12 min``, ``1 h 12 min``, ``2 d 3 h``: the two largest parts that are not zero."""
    if abs(value) < 10:
        return f"{_short(value)} s"
    whole = round(value)
    parts = []
    for size, name in ((DAY, "d"), (HOUR, "h"), (MINUTE, "min"), (1, "s")):
        amount, whole = divmod(whole, size)
        if amount:
            parts.append(f"{amount:,} {name}")
        if len(parts) == 2 or (parts and name == "min" and amount >= 10):
            break
    return " ".join(parts)


def ratio_text(value: float) -> str:
    """``71.2 %`` of 0.712."""
    return f"{_short(value * 100)} %"


def _short(value: float) -> str:
    """A number as a person would write it: three significant digits below 1000, thousands separated above."""
    if abs(value) >= 100 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}".rstrip("0").rstrip(".")


_FORMATS: dict[Unit, Callable[[float], str]] = {
    Unit.BYTES: human_size,
    Unit.BYTES_PER_SECOND: lambda value: f"{human_size(value)}/s",
    Unit.PER_SECOND: lambda value: f"{_short(value)} per second",
    Unit.PAGES_PER_SECOND: lambda value: f"{_short(value)} pages/s",
    Unit.RATIO: ratio_text,
    Unit.SECONDS: seconds_text,
    Unit.COUNT: _short,
}


def quantity_text(quantity: Quantity) -> str:
    """A quantity in English, with its unit."""
    if isinstance(quantity.value, str) or quantity.unit is Unit.TEXT:
        return str(quantity.value)
    return _FORMATS[quantity.unit](quantity.value)


def message_text(message: Message) -> str:
    """The message in English, its values in place."""
    return message.text.format_map({name: quantity_text(value) for name, value in message.values.items()})


def measured_text(figure: Measured) -> str:
    """``redo written per second: 3.2 MiB/s``."""
    return f"{figure.name}: {quantity_text(Quantity(figure.value, figure.unit))}"
