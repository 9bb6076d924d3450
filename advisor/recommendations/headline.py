"""One sentence that says how a server is, with the facts that made it true."""

from __future__ import annotations

from typing import Any

from advisor.recommendations.vitals import Condition, Vitals

#: Unix seconds in a stored message: pages show them in the reader's zone.
INSTANT = "instant"

Sentence = dict[str, Any]


def sentence(
    condition: Condition,
    *,
    vitals: Vitals | None,
    since: float | None,
    newest_sample_at: float | None = None,
    trouble: str = "",
) -> Sentence:
    """The headline as a stored message: ``text`` (translatable), ``values`` with units, and ``facts``, the figures
    behind it.

    ``since``: unix seconds from which on the condition holds. ``trouble``: why the server cannot be read, a full
    sentence.
    """
    if condition is Condition.NEW or (vitals is None and condition is not Condition.STALE):
        if trouble:
            return _made("No sample yet: {trouble}", {"trouble": (trouble, "text")}, [])
        return _made("Waiting for the first samples", {}, [])
    if condition is Condition.STALE:
        at = newest_sample_at if newest_sample_at is not None else (vitals.at if vitals else None)
        if at is None:
            return _made("No sample yet: {trouble}", {"trouble": (trouble or "nobody polls it", "text")}, [])
        facts = [_fact("newest sample", at, INSTANT)]
        if trouble:
            return _made(
                "Nothing heard since {at}: {trouble}", {"at": (at, INSTANT), "trouble": (trouble, "text")}, facts
            )
        return _made("Nothing heard since {at}", {"at": (at, INSTANT)}, facts)
    assert vitals is not None
    facts = _facts(vitals)
    from_then = (since if since is not None else vitals.at, INSTANT)
    if condition is Condition.CRITICAL:
        if vitals.condition is not Condition.CRITICAL:
            return _made("Writers waited for redo until a moment ago", {}, facts)
        return _made("Writers wait for redo since {since}", {"since": from_then}, facts)
    if condition is Condition.WARNING:
        if vitals.condition is not Condition.WARNING:
            return _made("The checkpoint age was close to its limit until a moment ago", {}, facts)
        text = (
            "The checkpoint age is above the async point since {since}: flushing runs ahead of everything"
            if vitals.has_sync_point
            else "The checkpoint age is close to its maximum since {since}: flushing runs ahead of everything"
        )
        return _made(text, {"since": from_then}, facts)
    if condition is Condition.WATCH:
        return _made(
            "Writers will wait for redo in {headroom} if it goes on like this",
            {"headroom": (vitals.headroom_seconds, "seconds")},
            facts,
        )
    if vitals.pressure is None:
        return _made("Polled; the checkpoint age cannot be read on this server", {}, facts)
    if not vitals.loaded:
        return _made("Hardly any writes: nothing waits for redo", {}, facts)
    text = (
        "Redo and flushing are normal: {pressure} of the sync point"
        if vitals.has_sync_point
        else "Redo and flushing are normal: {pressure} of the maximum checkpoint age"
    )
    return _made(text, {"pressure": (vitals.pressure, "ratio")}, facts)


def _facts(vitals: Vitals) -> list[dict[str, Any]]:
    figures = (
        ("checkpoint age against its limit, now", vitals.pressure, "ratio"),
        ("checkpoint age against its limit, highest in a minute", vitals.highest, "ratio"),
        ("redo written per second", vitals.redo_bytes_per_second, "bytes/s"),
        ("transactions per second", vitals.transactions_per_second, "1/s"),
        # Above the async point flushing follows the age: a slope is no forecast there.
        (
            "headroom at this rate",
            None if vitals.condition is Condition.WARNING else vitals.headroom_seconds,
            "seconds",
        ),
    )
    return [_fact(name, value, unit) for name, value, unit in figures if value is not None]


def _fact(name: str, value: float, unit: str) -> dict[str, Any]:
    return {"name": name, "value": value, "unit": unit}


def _made(text: str, values: dict[str, tuple[Any, str]], facts: list[dict[str, Any]]) -> Sentence:
    return {
        "text": text,
        "values": {name: {"value": value, "unit": unit} for name, (value, unit) in values.items()},
        "facts": facts,
    }
