"""How much memory a server may need: the formula that both rules about the buffer pool use, so that they cannot
disagree.

Buffer pool x 1.1 (descriptors and hash beside the pages) + global caches + connections that were really used x 2
MiB (stack, network and sort buffers in use). Per-thread buffers are never multiplied by max_connections: that sum
is reached by no server.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import MIB, Unit
from advisor.mysql.values import BadValue, parse_integer

POOL_OVERHEAD = 1.1
CONNECTION_BYTES = 2 * MIB
#: What performance_schema takes at a few hundred connections: 150 to 255 MB on MySQL, about 98 MB on MariaDB
#: (measured).
PERFORMANCE_SCHEMA_BYTES = 200 * MIB
GLOBAL_BUFFERS = (
    "innodb_log_buffer_size",
    "key_buffer_size",
    "aria_pagecache_buffer_size",
    "query_cache_size",
)


@dataclass(frozen=True)
class MemoryThresholds(Thresholds):
    """How much of the host's memory may be planned for, by every rule that proposes a size of the buffer pool."""

    highest_pool_ratio: float = threshold(
        0.75,
        unit=Unit.RATIO,
        meaning="the most of the host's memory that a proposed pool takes: the system wants its share",
    )
    planned_ratio: float = threshold(
        0.85, unit=Unit.RATIO, meaning="share of the host's memory that a proposal plans for, all buffers included"
    )


@dataclass(frozen=True)
class MemoryNeed:
    """What a server is expected to use besides its buffer pool, in bytes, and by whom."""

    global_bytes: int
    connections: int

    @property
    def other_bytes(self) -> int:
        return self.global_bytes + self.connections * CONNECTION_BYTES

    def expected_bytes(self, pool_bytes: float) -> float:
        """All of it with a pool of this size."""
        return pool_bytes * POOL_OVERHEAD + self.other_bytes

    def certain_bytes(self, pool_bytes: float) -> float:
        """What is taken whatever the load is, once used: the pool without its overhead, and the global buffers."""
        return pool_bytes + self.global_bytes

    def largest_pool_bytes(self, memory_bytes: float, p: MemoryThresholds) -> float:
        """The biggest pool that may be planned for on a machine of this memory; may be below zero where nothing
        fits.
        """
        return min(
            p.highest_pool_ratio * memory_bytes, (p.planned_ratio * memory_bytes - self.other_bytes) / POOL_OVERHEAD
        )


def memory_need(variables: Mapping[str, str], max_used_connections: int) -> MemoryNeed:
    """What follows from the variables and from how many connections there ever were at once."""
    total = 0
    for name in GLOBAL_BUFFERS:
        try:
            total += parse_integer(variables.get(name, "0"))
        except BadValue:
            continue
    if variables.get("performance_schema", "OFF").upper() in {"ON", "1"}:
        total += PERFORMANCE_SCHEMA_BYTES
    return MemoryNeed(total, max_used_connections)
