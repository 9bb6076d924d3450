"""What a rule may say: exactly one of four outcomes, with typed evidence and typed proposals; never a sentence that
code must parse.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import Proposal
from advisor.mysql.snapshot import Remedy


class Severity(StrEnum):
    """How much harm a finding does. The order of the members is the order of severity."""

    NOTICE = "notice"
    WARNING = "warning"
    CRITICAL = "critical"

    @property
    def rank(self) -> int:
        return list(Severity).index(self)


class Confidence(StrEnum):
    """The quality of the evidence, not of the arithmetic."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"

    @property
    def rank(self) -> int:
        return list(Confidence).index(self)


@dataclass(frozen=True)
class Window:
    """The time that evidence was observed over: unix seconds, and how many intervals of it could be used."""

    started_at: float
    ended_at: float
    intervals: int = 0

    @property
    def seconds(self) -> float:
        return self.ended_at - self.started_at


@dataclass(frozen=True)
class Measured:
    """One figure: what it is, how much, in which unit, over which window (None for a setting), read from where.

    ``lower_is_worse``: the less of it, the more harm (free pages). Else it gets worse as it grows.
    """

    name: str
    value: int | float | str
    unit: Unit
    window: Window | None = None
    source: str = ""
    lower_is_worse: bool = False


def unused(figures: Iterable[Measured]) -> tuple[Measured, ...]:
    """The figures of a finding that says "more than is needed": the less of it is used, the truer the finding."""
    return tuple(replace(figure, lower_is_worse=True) for figure in figures)


@dataclass(frozen=True)
class Message:
    """Words with named, typed values: ``text`` is a translatable template such as "holds {time} of writes"."""

    text: str
    values: Mapping[str, Quantity] = field(default_factory=dict)


class PriceKind(StrEnum):
    """What a change may cost."""

    MEMORY = "memory"
    DISK = "disk"
    RECOVERY_TIME = "recovery_time"
    DURABILITY = "durability"
    WRITE_LATENCY = "write_latency"
    READ_LATENCY = "read_latency"
    DISK_WRITES = "disk_writes"
    RESTART = "restart"
    OVERHEAD = "overhead"


@dataclass(frozen=True)
class Price:
    """One item of what a proposal costs; ``before`` and ``after`` where both can be said."""

    kind: PriceKind
    message: Message
    before: Quantity | None = None
    after: Quantity | None = None


@dataclass(frozen=True)
class Item:
    """One thing found: its subject (None: the server), its words, its figures and what to do.

    ``severity`` overrides the rule's own where the figures make it worse or milder. ``confidence`` is set by the
    engine.
    """

    message: Message
    evidence: tuple[Measured, ...]
    proposal: Proposal
    expected: Message | None = None
    price: tuple[Price, ...] = ()
    subject: str | None = None
    severity: Severity | None = None
    would_change_our_mind: Message | None = None


@dataclass(frozen=True)
class Finding:
    """The rule fired. Each item becomes one recommendation."""

    items: tuple[Item, ...]


@dataclass(frozen=True)
class Passed:
    """All facts were there and nothing is wrong; the figures that were looked at stand beside the claim."""

    evidence: tuple[Measured, ...]


@dataclass(frozen=True)
class NotApplicable:
    """The question does not arise on this server, and why."""

    why: Message


@dataclass(frozen=True)
class NotEvaluated:
    """It cannot be told. Never empty: what would have to be granted, enabled, stated or awaited."""

    missing: tuple[Remedy, ...]

    def __post_init__(self) -> None:
        if not self.missing:
            raise ValueError("a rule that could not be evaluated has to say what is missing")


Outcome = Finding | Passed | NotApplicable | NotEvaluated


class Missing(Exception):
    """Raised while a fact is read: the fact cannot be had, and this is what would change that."""

    def __init__(self, *remedies: Remedy) -> None:
        super().__init__("; ".join(remedy.what for remedy in remedies))
        self.remedies = remedies


class Inapplicable(Exception):
    """Raised while a fact is read: the question does not arise on this server, whatever its version."""

    def __init__(self, why: Message) -> None:
        super().__init__(why.text)
        self.why = why
