"""What a finding suggests, as typed objects. ``statements.render`` turns them into text for one very server."""

from __future__ import annotations

from dataclasses import dataclass

Value = int | float | str | bool


@dataclass(frozen=True)
class SetVariable:
    """Give a global system variable a value. The catalogue knows whether it is dynamic and how it persists."""

    name: str
    value: Value


@dataclass(frozen=True)
class SetMetricCounters:
    """Switch innodb_metrics counters, by their exact names, so that the undo can be exact too."""

    enable: tuple[str, ...] = ()
    disable: tuple[str, ...] = ()


@dataclass(frozen=True)
class SetInstruments:
    """Switch performance_schema instruments: (name, enabled, timed); ``timed`` None where it cannot be timed."""

    instruments: tuple[tuple[str, bool, bool | None], ...]


@dataclass(frozen=True)
class SetConsumers:
    """Switch performance_schema consumers: (name, enabled)."""

    consumers: tuple[tuple[str, bool], ...]


@dataclass(frozen=True)
class SchemaAdvice:
    """A change of a schema object: told, never rendered as a statement."""

    subject: str
    advice: str


@dataclass(frozen=True)
class UpgradeAdvice:
    """Move to another version."""

    to_version: str
    advice: str


@dataclass(frozen=True)
class Investigate:
    """Something a person has to look at before any value can be named."""

    advice: str


Change = SetVariable | SetMetricCounters | SetInstruments | SetConsumers | SchemaAdvice | UpgradeAdvice | Investigate
#: A proposal is one change, or several that only make sense together (the maximum with what it limits).
Proposal = tuple[Change, ...]
