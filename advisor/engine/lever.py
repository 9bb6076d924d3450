"""What a safe lever is: what to set on a running server, its effect, for how long, at what price, and the way back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from advisor.engine.outcome import Message, Price
from advisor.mysql.statements import RenderedChange
from advisor.mysql.values import BadValue, parse_boolean, parse_real
from advisor.mysql.version import ServerVersion


class Trouble(StrEnum):
    """How near writers are to waiting for redo: ``near`` above the async point or shortly before it, ``waiting`` where
    they had to wait.
    """

    NONE = "none"
    NEAR = "near"
    WAITING = "waiting"


@dataclass(frozen=True)
class Situation:
    """One server at one moment.

    ``variables`` and ``status`` as the server prints them. ``pressure`` is the age as a share of the point at which
    writers wait, ``dirty_percent`` the share of dirty pages, ``flushed_pages_per_second`` what flushing wrote lately;
    None where not known. ``storage`` is "ssd" or "hdd" where somebody stated it, ``free_disk_bytes`` likewise.
    """

    server: ServerVersion
    variables: Mapping[str, str]
    status: Mapping[str, str]
    trouble: Trouble
    pressure: float | None = None
    dirty_percent: float | None = None
    flushed_pages_per_second: float | None = None
    storage: str | None = None
    free_disk_bytes: int | None = None

    def number(self, name: str) -> float | None:
        """The value of a numeric system variable, None where the server has none of that name."""
        try:
            return parse_real(self.variables[name])
        except (KeyError, BadValue):
            return None

    def is_on(self, name: str) -> bool | None:
        """Whether a switch is on, None where the server has none of that name."""
        try:
            return parse_boolean(self.variables[name])
        except (KeyError, BadValue):
            return None


@dataclass(frozen=True)
class Lever:
    """What to pull, what it does, for how long, what it costs, and how it is put back.

    On a managed server, whose values are set in a parameter group, ``statements`` and ``undo`` are names and values.
    """

    name: str
    effect: Message
    price: Price
    expires_seconds: int
    statements: tuple[str, ...]
    undo: tuple[str, ...]
    changes: tuple[RenderedChange, ...]
    notes: tuple[Message, ...] = ()
    managed: bool = False


@dataclass(frozen=True)
class Withheld:
    """A lever that people would look for here, and why it is not offered."""

    name: str
    why: Message


@dataclass(frozen=True)
class Levers:
    """``offered`` in the order in which they help; empty where there is no such trouble."""

    offered: tuple[Lever, ...] = ()
    withheld: tuple[Withheld, ...] = ()


@dataclass(frozen=True)
class Idea:
    """A lever before it is known whether this server takes it."""

    name: str
    value: int | float | bool
    effect: Message
    price: Price
    expires_seconds: int
    notes: tuple[Message, ...] = field(default_factory=tuple)
