"""What a fact is: a small typed value that is complete, or not there at all.

A rule's check names the facts it needs as its parameters' types; the engine reads each from the observation and
calls the check only when all of them could be read. So a check never meets None and never compares versions.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from enum import StrEnum
from typing import ClassVar, Self

from advisor.engine.observation import Observation


class Basis(StrEnum):
    """What a fact rests on. It decides how sure a finding can be.

    What is set; what a formula makes of it; what was seen happening poll by poll; what counters grew by between full
    snapshots; what an inspection read of accounts and tables; what the server's own statistics say since they began.
    """

    SETTING = "setting"
    ESTIMATE = "estimate"
    WINDOW = "window"
    COUNTED = "counted"
    INSPECTED = "inspected"
    STATISTICS = "statistics"


class Fact(ABC):
    """Subclasses are frozen dataclasses. ``reads`` says for the documentation where the figures come from."""

    basis: ClassVar[Basis] = Basis.SETTING
    reads: ClassVar[tuple[str, ...]] = ()

    @classmethod
    @abstractmethod
    def read(cls, seen: Observation) -> Self:
        """The fact as the observation shows it, the values on trial (``seen.proposed``) in place.

        Raises Missing, with what would have to be granted, enabled, stated or awaited.
        """


class Harm(Fact):
    """A fact that tells of harm which some variable's present value does.

    When a rule is judged again with its own proposal in place, harm that it declares ``caused_by`` such a variable
    belongs to the old value and is withheld.
    """

    basis: ClassVar[Basis] = Basis.WINDOW

    @abstractmethod
    def withheld(self) -> Self:
        """The same fact without the harm; what does not depend on the setting (rates of work) stays."""
