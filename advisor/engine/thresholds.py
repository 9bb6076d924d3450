"""A rule's thresholds: declared, described, with room to leave so that a figure near one does not open and close a
finding.

@dataclass(frozen=True)
class Parameters(Thresholds):
    at_limit_ratio: float = threshold(0.01, unit=Unit.RATIO, meaning="share of time at the limit", leave_at=0.005)
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any, Self

from advisor.engine.units import Unit


@dataclass(frozen=True)
class Threshold:
    """What the documentation says of one threshold. ``leave_at`` is where an open finding is let go."""

    name: str
    value: float
    leave_at: float
    unit: Unit
    meaning: str


def threshold(value: float, *, unit: Unit, meaning: str, leave_at: float | None = None) -> Any:
    """A dataclass field that carries its meaning and the value at which an open finding is left (default: the same)."""
    return field(
        default=value, metadata={"unit": unit, "meaning": meaning, "leave_at": value if leave_at is None else leave_at}
    )


@dataclass(frozen=True)
class Thresholds:
    """Base of every rule's parameters."""

    @classmethod
    def described(cls) -> tuple[Threshold, ...]:
        """All thresholds in the order of their declaration."""
        return tuple(
            Threshold(one.name, one.default, one.metadata["leave_at"], one.metadata["unit"], one.metadata["meaning"])
            for one in fields(cls)
            if isinstance(one.default, int | float)
        )

    def while_open(self) -> Self:
        """The thresholds for a finding that is open already: each at its ``leave_at``.

        Where a team changed a threshold, its room to leave moves in proportion.
        """
        return replace(
            self,
            **{
                one.name: getattr(self, one.name) * one.leave_at / one.value if one.value else one.leave_at
                for one in self.described()
            },
        )
