"""How much memory a server may need: the formula that both rules about the buffer pool use, so that they cannot
disagree.

Buffer pool x 1.1 (descriptors and hash beside the pages) + global caches + connections that were really used x 2
MiB (stack, network and sort buffers in use). Per-thread buffers are never multiplied by max_connections: that sum
is reached by no server.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from advisor.engine.units import MIB
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
#: A pool never takes more than this of the memory, however idle the rest of the server is: the system wants its share.
HIGHEST_POOL_SHARE = 0.75
#: Shares of the memory: what may be planned for, and from where on a server is about to swap.
PLANNED_SHARE = 0.85
EXCEEDED_SHARE = 0.90


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

    def largest_pool_bytes(self, memory_bytes: float) -> float:
        """The biggest pool that may be planned for on a machine of this memory; may be below zero where nothing
        fits.
        """
        return min(HIGHEST_POOL_SHARE * memory_bytes, (PLANNED_SHARE * memory_bytes - self.other_bytes) / POOL_OVERHEAD)


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
