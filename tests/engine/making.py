"""Small rules made for tests of the engine."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Self

from advisor.engine import reading
from advisor.engine.fact import Fact, Harm
from advisor.engine.observation import Observation
from advisor.engine.outcome import Finding, Item, Measured, Message, Passed, Severity
from advisor.engine.rule import Rule
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import Unit
from advisor.mysql.proposal import Change, SetVariable


@dataclass(frozen=True)
class Connections(Fact):
    """max_connections, the value on trial in place."""

    limit: int

    @classmethod
    def read(cls, seen: Observation) -> Self:
        return cls(reading.integer(seen, "max_connections"))


@dataclass(frozen=True)
class Refusals(Harm):
    """How many connections were refused: harm of the present limit."""

    count: int

    @classmethod
    def read(cls, seen: Observation) -> Self:
        return cls(int(reading.status_number(seen, "refused") or 0))

    def withheld(self) -> Self:
        return type(self)(0)


@dataclass(frozen=True)
class Parameters(Thresholds):
    """Opened below 200, left at 220."""

    smallest: float = threshold(200, unit=Unit.COUNT, meaning="connections at least", leave_at=220)


def made_rule(
    name: str,
    change: Change | Sequence[Change],
    *,
    severity: Severity = Severity.WARNING,
    applies_to: Sequence[str] = ("mysql>=5.7", "mariadb>=10.2"),
    raises: Sequence[str] = (),
    broken: Exception | None = None,
) -> Rule:
    """A rule that fires while max_connections is below its threshold, and proposes ``change``."""
    module = f"advisor.rules.made.{name}"
    sys.modules[module] = ModuleType(module, "Made for a test.")
    rule = Rule(
        module,
        severity=severity,
        applies_to=applies_to,
        since="0.1",
        references=["https://dev.mysql.com/"],
        parameters=Parameters(),
        raises=raises,
    )

    def check(connections: Connections, p: Parameters) -> Finding | Passed:
        if broken is not None:
            raise broken
        evidence = (Measured("max_connections", connections.limit, Unit.COUNT),)
        if connections.limit >= p.smallest:
            return Passed(evidence)
        proposal = tuple(change) if isinstance(change, Sequence) else (change,)
        return Finding((Item(Message(name), evidence, proposal),))

    # The annotations are texts in this module; the rule resolves them where the function was made.
    rule.check(check)
    return rule


RAISE = SetVariable("max_connections", 300)
