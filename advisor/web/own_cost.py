"""What watching costs one server, measured: by what its newest poll and its newest snapshot asked of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from collector.models import Server, ServerState

#: Polls and snapshots of one server go through one connection that is kept.
CONNECTIONS = 1


@dataclass(frozen=True)
class Part:
    """What one reading asks of the server, and how often. ``milliseconds`` is from sending to the last byte."""

    title: str
    every_seconds: int
    statements: float
    rows: float
    received_bytes: float
    sent_bytes: float
    milliseconds: float


@dataclass(frozen=True)
class OwnCost:
    """All readings together, per second. The time is the most that one thread can have spent on us: it holds the time
    on the way, which costs the server nothing.
    """

    parts: Sequence[Part]
    connections: int

    @property
    def statements_per_second(self) -> float:
        return sum(part.statements / part.every_seconds for part in self.parts)

    @property
    def received_bytes_per_second(self) -> float:
        return sum(part.received_bytes / part.every_seconds for part in self.parts)

    @property
    def sent_bytes_per_second(self) -> float:
        return sum(part.sent_bytes / part.every_seconds for part in self.parts)

    @property
    def milliseconds_per_second(self) -> float:
        return sum(part.milliseconds / part.every_seconds for part in self.parts)


def read(server: Server, state: ServerState | None) -> OwnCost | None:
    """None until a poll was measured."""
    noted = state.cost if state is not None and isinstance(state.cost, dict) else {}
    parts = [
        _part(title, every, found)
        for name, title, every in (
            ("poll", _("a poll"), server.fast_interval_seconds),
            ("snapshot", _("a snapshot"), server.full_interval_seconds),
        )
        if isinstance(found := noted.get(name), dict)
    ]
    return OwnCost(parts, CONNECTIONS) if parts else None


def _part(title: str, every: int, found: Mapping[str, Any]) -> Part:
    def number(name: str) -> float:
        value = found.get(name)
        return float(value) if isinstance(value, int | float) else 0.0

    return Part(
        title, max(every, 1), number("statements"), number("rows"), number("bytes"), number("sent_bytes"),
        number("milliseconds"),
    )  # fmt: skip
