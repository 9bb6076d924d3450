"""Facts about statements that several rules read: the slow query log."""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings


@dataclass(frozen=True)
class SlowLog(Settings):
    """The slow query log. ``long_query_time`` is in seconds; every statement above it counts in Slow_queries."""

    slow_query_log: bool
    long_query_time: float
    log_queries_not_using_indexes: bool
