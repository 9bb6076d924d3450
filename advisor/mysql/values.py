"""Values of system variables: read from what servers print and people write, printed back as servers print them.

Option files and people write ``128M``, ``@@GLOBAL`` and SHOW VARIABLES print ``134217728``; people write ``ON``,
``@@GLOBAL`` prints ``1``; reals come back with six digits after the point. Everything here is about one value; which
kind of value a variable holds is the catalogue's knowledge.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from decimal import Decimal

Value = int | float | str | bool

#: Suffixes that option files know (T, P and E since MySQL 8.0.14 and MariaDB 10.2), as powers of 1,024.
_SUFFIXES = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5, "E": 6}
_SIZE = re.compile(r"([+-]?)(?:(0[xX][0-9a-fA-F]+)|(\d+)([KMGTPE]?))", re.IGNORECASE | re.ASCII)
_REAL = re.compile(r"[+-]?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|[+-]?\.\d+", re.ASCII)

_TRUE = frozenset({"1", "on", "true", "yes"})
_FALSE = frozenset({"0", "off", "false", "no"})
#: What a server itself takes for a boolean: ``yes`` and ``no`` are not among it.
_ACCEPTED_TRUE = frozenset({"1", "on", "true"})
_ACCEPTED_FALSE = frozenset({"0", "off", "false"})


class BadValue(ValueError):
    """A text that no server would take as this kind of value; the message is one sentence saying what to write."""


def parse_integer(text: str) -> int:
    """``128M``, ``1G``, ``0x10`` or ``134217728`` as a whole number. Raises BadValue for ``1.5G`` and others."""
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        if re.fullmatch(r"\s*\d+[.,]\d+\s*[KMGTPE]?i?B?\s*", text, re.IGNORECASE):
            raise BadValue(
                f"{text.strip()[:40]!r} is not a whole number, and servers take no fractions here: "
                "write a smaller unit, such as 1536M for 1.5G."
            )
        raise BadValue(
            f"{text.strip()[:40]!r} is not a whole number: write digits, or digits and K, M or G, such as 128M."
        )
    sign = -1 if match[1] == "-" else 1
    if match[2]:
        return sign * int(match[2], 16)
    return int(sign * int(match[3]) * 1024 ** _SUFFIXES[match[4].upper()])


#: Sizes are whole numbers of bytes; the name says at the place of use that a suffix is expected.
parse_size = parse_integer


def parse_boolean(text: str) -> bool:
    """``ON``, ``TRUE``, ``1`` or ``OFF``, ``FALSE``, ``0`` in any case. Raises BadValue for what servers refuse."""
    word = text.strip().lower()
    if word in _ACCEPTED_TRUE:
        return True
    if word in _ACCEPTED_FALSE:
        return False
    raise BadValue(f"{text.strip()[:40]!r} is neither on nor off: write ON or OFF.")


def parse_real(text: str) -> float:
    """``90.000000`` or ``75`` as a number. Raises BadValue."""
    if _REAL.fullmatch(text.strip()) is None:
        raise BadValue(f"{text.strip()[:40]!r} is not a number: write one such as 75 or 99.9.")
    return float(text)


def parse_enum(text: str, allowed: Iterable[str]) -> str:
    """One of ``allowed``, spelled as there, found without regard to case or by its position. Raises BadValue."""
    words = list(allowed)
    wanted = text.strip()
    for word in words:
        if word.lower() == wanted.lower():
            return word
    if wanted.isascii() and wanted.isdigit() and int(wanted) < len(words):
        return words[int(wanted)]
    raise BadValue(f"{wanted[:40]!r} is none of {', '.join(words)}.")


def parse_set(text: str, allowed: Iterable[str]) -> tuple[str, ...]:
    """A comma-separated set, in the order of ``allowed``, each word once; the empty text is the empty set. Raises
    BadValue.
    """
    words = list(allowed)
    chosen = {parse_enum(part, words) for part in text.split(",") if part.strip()}
    return tuple(word for word in words if word in chosen)


def parse_flags(text: str) -> dict[str, bool]:
    """``mrr=on,mrr_cost_based=off`` (optimizer_switch) as flags, in the order they came. Raises BadValue."""
    flags = {}
    for part in text.split(","):
        name, equals, state = part.strip().partition("=")
        if not equals or not re.fullmatch(r"[a-z0-9_]+", name):
            raise BadValue(f"{part.strip()[:40]!r} is no flag: write it as name=on or name=off.")
        flags[name] = parse_boolean(state)
    return flags


def print_flags(flags: Mapping[str, bool]) -> str:
    """Flags as a server prints them: ``mrr=on,mrr_cost_based=off``."""
    return ",".join(f"{name}={'on' if state else 'off'}" for name, state in flags.items())


def as_printed(value: Value, *, real: bool = False) -> str:
    """How ``SELECT @@GLOBAL.name`` prints a value: booleans as 1 or 0, reals with six digits after the point.

    ``real`` says that the variable holds a real, so that 90 is printed as ``90.000000``.
    """
    if isinstance(value, bool):
        return "1" if value else "0"
    if real or isinstance(value, float):
        return f"{float(value):.6f}"
    return str(value)


def normalised(value: Value) -> Decimal | str:
    """A form in which two spellings of one value are equal: numbers as Decimal (booleans as 1 and 0), words in lower
    case.
    """
    if isinstance(value, bool):
        return Decimal(int(value))
    if isinstance(value, (int, float)):
        return Decimal(str(value))
    text = value.strip()
    lower = text.lower()
    if lower in _TRUE:
        return Decimal(1)
    if lower in _FALSE:
        return Decimal(0)
    if _SIZE.fullmatch(text):
        return Decimal(parse_integer(text))
    if _REAL.fullmatch(text):
        return Decimal(text)
    return ",".join(part.strip() for part in lower.split(","))


def same(one: Value, other: Value) -> bool:
    """Whether two spellings mean one value: ``1G`` and 1073741824, ``ON`` and ``1``, ``90`` and ``90.000000``."""
    if one == other:
        return True  # Most values of a server are their defaults, and judging a fleet asks it of each.
    left, right = normalised(one), normalised(other)
    if isinstance(left, Decimal) and isinstance(right, Decimal):
        # Servers print reals with six digits, so that a closer difference cannot be seen.
        return abs(left - right) < Decimal("0.0000005")
    return left == right


_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")


def human_size(size_bytes: float) -> str:
    """``8 GiB``, ``1.5 MiB``, ``512 B``: the largest unit that leaves 1 or more, at most two digits after the point."""
    sign = "-" if size_bytes < 0 else ""
    amount, unit = abs(float(size_bytes)), 0
    # Rounding may carry into the next unit (1023.999 KiB is 1 MiB), so that the rounded amount decides.
    while round(amount, 2) >= 1024 and unit < len(_UNITS) - 1:
        amount, unit = amount / 1024, unit + 1
    digits = f"{amount:.2f}".rstrip("0").rstrip(".") if unit else f"{amount:.0f}"
    return f"{sign}{digits} {_UNITS[unit]}"


def exact_size(size_bytes: int) -> str:
    """``8 GiB`` where that is exact, else the bytes with separators: ``122,683,393 B``."""
    for power in range(len(_UNITS) - 1, 0, -1):
        if size_bytes and size_bytes % 1024**power == 0:
            return f"{size_bytes // 1024**power:,} {_UNITS[power]}"
    return f"{size_bytes:,} B"


def option_size(size_bytes: int) -> str:
    """A size as an option file writes it: ``8G``, ``1536M``, or plain bytes where no suffix is exact."""
    for suffix in ("G", "M", "K"):
        unit = 1024 ** _SUFFIXES[suffix]
        if size_bytes and size_bytes % unit == 0:
            return f"{size_bytes // unit}{suffix}"
    return str(size_bytes)


#: What a quoted word in a statement of ours may hold. No quotes, no backslashes, no comments can be made of it.
_WORD = re.compile(r"[A-Za-z0-9_,.:=/ -]*")


def literal(value: Value) -> str:
    """A value as SQL: digits, ``ON``/``OFF``, or a quoted word. Raises BadValue for what cannot be written safely."""
    if isinstance(value, bool):
        return "ON" if value else "OFF"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        if value != value or value in (float("inf"), float("-inf")):
            raise BadValue("A value that is not a number cannot be written into a statement.")
        return f"{Decimal(str(value)):f}"
    if value.upper() in {"ON", "OFF"}:
        return value.upper()
    if _WORD.fullmatch(value) is None:
        raise BadValue(f"{value[:40]!r} has characters that Tidemark does not write into statements.")
    return f"'{value}'"
