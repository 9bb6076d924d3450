"""Instants as people and programs write them in an address."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from advisor.api.problems import Problem

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_RELATIVE = re.compile(r"now(?:-(\d{1,6})([smhdw]))?")
#: From here on a number is taken for milliseconds: as seconds it would lie in the year 5138.
_MILLISECONDS = 100_000_000_000


def read(text: str, *, now: float, parameter: str) -> float:
    """Unix seconds of ``now``, ``now-6h``, unix seconds or milliseconds, or ISO 8601 (without a zone: UTC).

    Raises Problem, naming the parameter.
    """
    relative = _RELATIVE.fullmatch(text)
    if relative:
        amount, unit = relative.groups()
        return now - (int(amount) * _UNITS[unit] if amount else 0)
    if re.fullmatch(r"\d{1,15}(\.\d{1,6})?", text):
        number = float(text)
        return number / 1000 if number >= _MILLISECONDS else number
    try:
        instant = datetime.fromisoformat(text)
    except ValueError:
        raise Problem(
            422,
            "bad-instant",
            f"{parameter} is {text[:40]!r}: write now, now-6h, unix seconds or milliseconds, or 2026-11-21T12:00:00Z.",
        ) from None
    return (instant if instant.tzinfo else instant.replace(tzinfo=UTC)).timestamp()
