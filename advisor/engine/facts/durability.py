"""Settings that decide what survives a crash and what is stored, as far as several rules ask for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

from advisor.engine.declared import Settings
from advisor.engine.fact import Fact
from advisor.engine.observation import Observation
from advisor.engine.outcome import Inapplicable, Message
from advisor.engine.units import Quantity, Unit


@dataclass(frozen=True)
class SelfManaged(Fact):
    """That people run this server themselves: a cloud that runs it has backups and a network boundary of its own."""

    @classmethod
    def read(cls, seen: Observation) -> Self:
        if seen.server.distribution.managed:
            raise Inapplicable(
                Message(
                    "{server} is run by a cloud, which has its own backups and decides itself who can reach it.",
                    {"server": Quantity(str(seen.server), Unit.TEXT)},
                )
            )
        return cls()


@dataclass(frozen=True)
class BinaryLogging(Settings):
    """Whether the binary log is written, and in which form (STATEMENT, MIXED, ROW)."""

    log_bin: bool
    binlog_format: str = "ROW"

    @property
    def may_hold_statements(self) -> bool:
        """Whether a change may be logged as its statement instead of its rows."""
        return self.log_bin and self.binlog_format.upper() != "ROW"


@dataclass(frozen=True)
class SqlMode(Settings):
    """The modes of new connections, separated by commas."""

    sql_mode: str

    @property
    def modes(self) -> frozenset[str]:
        return frozenset(word.strip().upper() for word in self.sql_mode.split(",") if word.strip())

    def with_mode(self, mode: str) -> str:
        """The list with one more mode, as it stands in SET and in an option file."""
        return ",".join(filter(None, (self.sql_mode, mode)))


@dataclass(frozen=True)
class Isolation(Settings):
    """The isolation level of new connections, under the name that the version has for it."""

    also_called: ClassVar[Mapping[str, tuple[str, ...]]] = {"transaction_isolation": ("tx_isolation",)}

    transaction_isolation: str
