"""Facts about slow statements that several rules read: the log, and how many there are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from advisor.engine import reading
from advisor.engine.declared import HarmRates, Settings
from advisor.engine.observation import Observation
from advisor.engine.outcome import Missing
from advisor.mysql.snapshot import Remedy, RemedyKind
from advisor.mysql.version import Flavor


@dataclass(frozen=True)
class SlowLog(Settings):
    """The slow query log. ``long_query_time`` is in seconds; every statement above it counts in Slow_queries."""

    slow_query_log: bool
    long_query_time: float
    log_queries_not_using_indexes: bool


#: The oldest asked servers that count slow statements whether or not they are written down. MySQL 5.7.22 and 8.0.12 and
#: MariaDB 10.2.11 count them only while the log is on (measured); where that changed in between was not tried.
_COUNTED_WITHOUT_LOG = {Flavor.MYSQL: (8, 0, 33), Flavor.MARIADB: (10, 5, 23)}


@dataclass(frozen=True)
class SlowStatements(HarmRates):
    """Statements that took longer than long_query_time, and statements in all, per second.

    Raises Missing where the log is off and this version may count them only while it is on, so that none is no proof.
    """

    slow_queries: float
    questions: float = 0.0

    @classmethod
    def read(cls, seen: Observation) -> Self:
        found = super().read(seen)
        on = reading.is_on(seen, "slow_query_log", default=True)
        counted = seen.server.number >= _COUNTED_WITHOUT_LOG[seen.server.flavor]
        if not found.slow_queries and not on and not counted:
            raise Missing(
                Remedy(
                    RemedyKind.ENABLE,
                    "slow statements",
                    "This version counts slow statements only while slow_query_log is ON.",
                )
            )
        return found
