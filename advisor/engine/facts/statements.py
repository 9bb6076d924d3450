"""Facts about statements that several rules read: deadlocks, and the slow query log."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from advisor.engine.declared import Rates, Settings
from advisor.engine.observation import Observation
from advisor.engine.outcome import Missing
from advisor.mysql.snapshot import Remedy, RemedyKind


@dataclass(frozen=True)
class Deadlocks(Rates):
    """Deadlocks per second: Innodb_deadlocks on MariaDB, the counter lock_deadlocks of innodb_metrics on MySQL."""

    innodb_deadlocks: float = 0.0
    lock_deadlocks: float = 0.0

    @classmethod
    def read(cls, seen: Observation) -> Self:
        found = super().read(seen)
        if not (found.exists("innodb_deadlocks") or found.exists("lock_deadlocks")):
            raise Missing(
                Remedy(
                    RemedyKind.ENABLE,
                    "deadlocks",
                    "This server counts deadlocks in INFORMATION_SCHEMA.INNODB_METRICS only (lock_deadlocks): "
                    "it has to be enabled, and read with the PROCESS privilege.",
                )
            )
        return found

    @property
    def per_second(self) -> float:
        """Deadlocks per second, by whichever counter there is."""
        return max(self.innodb_deadlocks, self.lock_deadlocks)


@dataclass(frozen=True)
class SlowLog(Settings):
    """The slow query log. ``long_query_time`` is in seconds; every statement above it counts in Slow_queries."""

    slow_query_log: bool
    long_query_time: float
    log_queries_not_using_indexes: bool
