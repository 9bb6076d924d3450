"""Quantities: a number never travels without its unit."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Unit(StrEnum):
    """The units that figures may have; the same words as in the advice schema."""

    BYTES = "bytes"
    BYTES_PER_SECOND = "bytes/s"
    PER_SECOND = "1/s"
    PAGES_PER_SECOND = "pages/s"
    RATIO = "ratio"
    SECONDS = "seconds"
    COUNT = "count"
    TEXT = "text"


@dataclass(frozen=True)
class Quantity:
    """A value with its unit; a page, a mail or a ticket formats it in its own way."""

    value: int | float | str
    unit: Unit


MINUTE = 60
HOUR = 3600
DAY = 86_400
WEEK = 7 * DAY
KIB = 1024
MIB = 1024 * KIB
GIB = 1024 * MIB


def round_up(value: float, step: int) -> int:
    """The smallest multiple of ``step`` that is not below ``value``."""
    return int(-(-value // step) * step)
