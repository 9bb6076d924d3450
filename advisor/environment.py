"""Reading settings from the environment: typed, and loud at the start instead of wrong later."""

from __future__ import annotations

import os
from pathlib import Path


class SettingError(Exception):
    """A setting that cannot be used; the message says which one and what is accepted."""


def text(name: str, default: str = "") -> str:
    """The variable's text. ``NAME_FILE`` names a file to read it from instead, as container secrets do."""
    path = os.environ.get(f"{name}_FILE")
    if path:
        try:
            return Path(path).read_text(encoding="utf-8").strip()
        except OSError as error:
            raise SettingError(f"{name}_FILE names {path}, which cannot be read: {error.strerror}") from None
    return os.environ.get(name, default)


def boolean(name: str, default: bool = False) -> bool:
    """Raises SettingError for anything but yes/no words."""
    value = text(name).lower()
    if value == "":
        return default
    if value in ("1", "true", "yes", "on"):
        return True
    if value in ("0", "false", "no", "off"):
        return False
    raise SettingError(f"{name} is {value!r}: write 1 or 0")


def integer(name: str, default: int, *, minimum: int = 0) -> int:
    """Raises SettingError for anything but a whole number that is not below the minimum."""
    value = text(name)
    if value == "":
        return default
    if not value.isdigit() or int(value) < minimum:
        raise SettingError(f"{name} is {value!r}: write a whole number, {minimum} or more")
    return int(value)


def words(name: str, default: str = "") -> list[str]:
    """A comma-separated list, blanks dropped."""
    return [word.strip() for word in text(name, default).split(",") if word.strip()]
