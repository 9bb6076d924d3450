"""System variables over time, as the lines of a chart: a setting is level until it is changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class SettingChange:
    """One system variable got another value. ``at`` is unix milliseconds, None a value that was not known."""

    at: float
    name: str
    old: str | None
    new: str | None


@dataclass(frozen=True)
class SettingsHistory:
    """``present`` holds the values at the end of a range, ``changes`` what moved in it, oldest first."""

    present: Mapping[str, str] = field(default_factory=dict)
    changes: Sequence[SettingChange] = ()

    def number(self, name: str) -> float | None:
        """The value at the end of the range; None where it was not read or is no number."""
        return _number(self.present.get(name))

    def line(self, name: str, started: float, ended: float) -> list[tuple[float, float] | None]:
        """(unix milliseconds, value) from ``started`` to ``ended``, one more place for each change; empty where the
        value was never read. Drawn in steps.
        """
        moved = [change for change in self.changes if change.name == name and started < change.at < ended]
        first = moved[0].old if moved else self.present.get(name)
        places: list[tuple[float, float] | None] = []
        for at, text in [(started, first), *((change.at, change.new) for change in moved)]:
            value = _number(text)
            places.append(None if value is None else (at, value))
        last = _number(moved[-1].new if moved else first)
        places.append(None if last is None else (ended, last))
        return places if any(places) else []


def _number(text: str | None) -> float | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return None
