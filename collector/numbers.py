"""Numbers out of what servers print."""

from __future__ import annotations

import math
from collections.abc import Mapping

from advisor.mysql.snapshot import Number

_MOST = 2**64 - 1


def number(text: str | None) -> Number | None:
    """A whole or real number; None for words, for nothing, and for what no counter can hold (nan, above 2^64)."""
    if not text or len(text) > 32 or not text.isascii():
        return None
    try:
        if text.lstrip("-").isdigit():
            whole = int(text)
            return whole if -(2**63) <= whole <= _MOST else None
        if "_" in text:
            return None
        real = float(text)
    except ValueError:
        return None
    return real if math.isfinite(real) and abs(real) <= _MOST else None


def numbers(status: Mapping[str, str]) -> dict[str, Number]:
    """Those of a server's status variables that are numbers."""
    found = ((name, number(text)) for name, text in status.items())
    return {name: value for name, value in found if value is not None}
