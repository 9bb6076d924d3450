"""Facts that need no load: durability, and which counters are on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

from advisor.engine import reading
from advisor.engine.fact import Fact
from advisor.engine.observation import Observation
from advisor.engine.outcome import Inapplicable, Measured, Message, Missing
from advisor.engine.units import Unit
from advisor.mysql import redo

#: Values of innodb_flush_log_at_trx_commit with which a commit is on disk before it is acknowledged; 3 is
#: MariaDB's, which flushes at prepare and at commit.
DURABLE_FLUSH = (1, 3)

#: The counters that tell age and limits, by exact name, where no status variable does.
AGE_COUNTERS = (
    "log_lsn_current",
    "log_lsn_last_checkpoint",
    "log_lsn_checkpoint_age",
    "log_max_modified_age_async",
    "log_max_modified_age_sync",
)


@dataclass(frozen=True)
class Durability(Fact):
    """Whether a commit that was acknowledged survives a crash. ``role``: source, replica, standalone or unknown."""

    reads: ClassVar[tuple[str, ...]] = ("innodb_flush_log_at_trx_commit", "log_bin", "sync_binlog")

    flush_at_commit: int
    binary_log: bool
    sync_binlog: int
    role: str

    @classmethod
    def read(cls, seen: Observation) -> Self:
        return cls(
            flush_at_commit=reading.integer(seen, "innodb_flush_log_at_trx_commit"),
            binary_log=reading.is_on(seen, "log_bin"),
            sync_binlog=reading.integer(seen, "sync_binlog"),
            role=seen.snapshot.identity.role,
        )

    @property
    def redo_is_durable(self) -> bool:
        return self.flush_at_commit in DURABLE_FLUSH

    @property
    def binary_log_is_durable(self) -> bool:
        return not self.binary_log or self.sync_binlog == 1

    def measured(self) -> tuple[Measured, ...]:
        """The settings, as evidence."""
        figures = [
            Measured("innodb_flush_log_at_trx_commit", self.flush_at_commit, Unit.COUNT, None, "system variable"),
            Measured("log_bin", "ON" if self.binary_log else "OFF", Unit.TEXT, None, "system variable"),
        ]
        if self.binary_log:
            figures.append(Measured("sync_binlog", self.sync_binlog, Unit.COUNT, None, "system variable"))
        return tuple(figures)


@dataclass(frozen=True)
class AgeCounters(Fact):
    """Which of the innodb_metrics counters about the checkpoint age there are, and which of them are off."""

    reads: ClassVar[tuple[str, ...]] = ("INFORMATION_SCHEMA.INNODB_METRICS",)

    known: tuple[str, ...]
    off: tuple[str, ...]

    @classmethod
    def read(cls, seen: Observation) -> Self:
        if not redo.has_redo_log(seen.server):
            raise Inapplicable(Message("Amazon Aurora has no redo log of its own: its storage writes the log."))
        if "Innodb_checkpoint_age" in seen.snapshot.status:
            raise Inapplicable(Message("This server shows the checkpoint age among its status variables."))
        metrics = seen.snapshot.metrics
        if not metrics:
            raise Missing(reading.grant(seen, "PROCESS", "innodb_metrics"))
        known = tuple(name for name in AGE_COUNTERS if name in metrics)
        return cls(
            known=known,
            off=tuple(name for name in known if not metrics[name].enabled and name not in seen.proposed_metrics),
        )
