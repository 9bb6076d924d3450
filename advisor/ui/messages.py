"""Words with typed values, as the engine makes them and as they are stored, in the language of the page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext, gettext_noop

from advisor.engine.outcome import Message
from advisor.ui import quantities


def text_of(message: object) -> str:
    """The message with its figures in place.

    Takes a ``Message``, its stored form ``{"text": ..., "values": {name: {"value": ..., "unit": ...}}}``, or a plain
    text. A value that the translation does not name is left out; one that it names and nobody sent stands as its name,
    since a page must not fail on one sentence.
    """
    if isinstance(message, Message):
        values = {name: quantities.of(value) for name, value in message.values.items()}
        return _fill(message.text, values)
    if isinstance(message, Mapping):
        stored = message.get("values") or {}
        return _fill(str(message.get("text", "")), {str(name): _stored(value) for name, value in stored.items()})
    return "" if message is None else gettext_or_same(str(message))


#: Names of the facts behind a headline, which stand side by side in one line.
_SHORT = {
    "checkpoint age against its limit, now": gettext_noop("pressure"),
    "checkpoint age against its limit, highest in a minute": gettext_noop("highest in a minute"),
    "redo written per second": gettext_noop("redo"),
    "transactions per second": gettext_noop("transactions"),
    "headroom at this rate": gettext_noop("headroom"),
}


#: What other rooms say in words that they put together, so that no extraction finds them where they are said.
_SAID_ELSEWHERE = (
    gettext_noop("The checkpoint age is above the async point since {since}: flushing runs ahead of everything"),
    gettext_noop("The checkpoint age is close to its maximum since {since}: flushing runs ahead of everything"),
    gettext_noop("Redo and flushing are normal: {pressure} of the sync point"),
    gettext_noop("Redo and flushing are normal: {pressure} of the maximum checkpoint age"),
    gettext_noop("redo written in the busiest hour"),
)


def short_name(name: str) -> str:
    """The short form of a fact's name, translated; the name itself where it has none."""
    return gettext_or_same(_SHORT.get(name, name))


def gettext_or_same(text: str) -> str:
    """Translated where there is a translation. (The empty text is gettext's name for the catalogue's head.)"""
    return gettext(text) if text else ""


def _stored(value: Any) -> str:
    if isinstance(value, Mapping):
        return quantities.quantity(value.get("value"), str(value.get("unit", "")))
    return str(value)


class _Named(dict[str, str]):
    def __missing__(self, key: str) -> str:
        return key


def _fill(template: str, values: dict[str, str]) -> str:
    try:
        return gettext_or_same(template).format_map(_Named(values))
    except (ValueError, IndexError, KeyError, AttributeError):
        return template
