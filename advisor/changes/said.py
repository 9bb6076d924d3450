"""What this room says: stored messages, so that pages, the API and notices print the same in each language."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from advisor.engine.units import Unit

#: ``{"text": template, "values": {name: {"value": ..., "unit": ...}}}``: what ``advisor.ui.messages.text_of`` prints.
Said = dict[str, Any]


def said(text: str, /, **values: Any) -> Said:
    """A stored message. A value is a text, a number that is a count, or a pair of a number and its unit.

    Modules import it as ``_made``, the name under which the words of stored messages are found for translation.
    """
    return {"text": text, "values": {name: _typed(value) for name, value in values.items()}}


def _typed(value: Any) -> Mapping[str, Any]:
    if isinstance(value, tuple):
        return {"value": value[0], "unit": str(value[1])}
    if isinstance(value, int | float) and not isinstance(value, bool):
        return {"value": value, "unit": Unit.COUNT.value}
    return {"value": str(value), "unit": Unit.TEXT.value}


def english(message: Mapping[str, Any]) -> str:
    """The message in English with its values in place: for logs, exceptions and the command line."""
    from django.utils import translation

    from advisor.ui.messages import text_of

    with translation.override("en"):
        return text_of(message)
