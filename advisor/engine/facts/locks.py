"""Facts about locks and the transactions that hold them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

from advisor.engine import reading
from advisor.engine.declared import inspected, number
from advisor.engine.fact import Basis, Fact
from advisor.engine.facts.innodb_metrics import MetricRates
from advisor.engine.observation import Observation
from advisor.engine.outcome import Measured
from advisor.engine.units import Unit


@dataclass(frozen=True)
class LockFailures(MetricRates):
    """Transactions that InnoDB ended by a deadlock, and lock waits that ran out of time, per second."""

    lock_deadlocks: float
    lock_timeouts: float


@dataclass(frozen=True)
class OpenTransactions(Fact):
    """The open transactions as an inspection found them, and how many sessions wait for row locks in the snapshot.

    ``idle_holder_seconds`` is for how long a session has done nothing though its transaction holds row locks: the
    longest, 0 where there is none.
    """

    basis: ClassVar[Basis] = Basis.INSPECTED
    reads: ClassVar[tuple[str, ...]] = ("INNODB_TRX, on inspection", "Innodb_row_lock_current_waits")

    count: int
    oldest_seconds: float
    idle_holder_seconds: float
    waiting: int

    @classmethod
    def read(cls, seen: Observation) -> Self:
        rows = inspected(seen, "transactions")
        holders = [row for row in rows if number(row, "rows_locked") + number(row, "rows_modified") > 0]
        return cls(
            count=len(rows),
            oldest_seconds=max((number(row, "age_seconds") for row in rows), default=0.0),
            idle_holder_seconds=max((number(row, "idle_seconds") for row in holders), default=0.0),
            waiting=int(reading.status_number(seen, "Innodb_row_lock_current_waits") or 0),
        )

    def measured(self) -> tuple[Measured, ...]:
        """Age, idleness and waits, as evidence."""
        return (
            Measured("open transactions", self.count, Unit.COUNT, None, "INNODB_TRX"),
            Measured("oldest transaction", self.oldest_seconds, Unit.SECONDS, None, "INNODB_TRX"),
            Measured("idle with row locks", self.idle_holder_seconds, Unit.SECONDS, None, "INNODB_TRX"),
            Measured(
                "sessions that wait for row locks", self.waiting, Unit.COUNT, None, "Innodb_row_lock_current_waits"
            ),
        )
