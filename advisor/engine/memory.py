"""How much memory a server may need: the one formula that every rule about memory uses, so that they cannot disagree.

Buffer pool x 1.1 (descriptors and hash beside the pages) + global caches + performance_schema (as an inspection read
it, else 200 MiB) + table caches (10 KiB for each table that may be open) + connections that were really used x 2 MiB
(stack, network and sort buffers in use) + statements at work x what their buffers are larger than 4 MiB in sum.
Per-thread buffers are never multiplied by max_connections: that sum is reached by no server.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import KIB, MIB, Unit
from advisor.mysql.values import BadValue, parse_integer

POOL_OVERHEAD = 1.1
CONNECTION_BYTES = 2 * MIB
#: What performance_schema takes at a few hundred connections: 150 to 255 MB on MySQL, about 98 MB on MariaDB
#: (measured).
PERFORMANCE_SCHEMA_BYTES = 200 * MIB
#: One open table with its handler and its rows' buffers.
TABLE_BYTES = 10 * KIB
#: Buffers that a statement takes at need, each of them whole and sometimes more than once.
STATEMENT_BUFFERS = ("sort_buffer_size", "join_buffer_size", "read_buffer_size", "read_rnd_buffer_size")
#: What of them is part of CONNECTION_BYTES already: their defaults are 0.9 MiB (MySQL) and 2.6 MiB (MariaDB) in sum.
USUAL_STATEMENT_BYTES = 4 * MIB
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
class BudgetItem:
    """One line of the budget: what takes memory, how much of it in bytes, and how that was reckoned."""

    name: str
    bytes: int
    how: str


@dataclass(frozen=True)
class MemoryNeed:
    """What a server is expected to use besides its buffer pool, in bytes, and by whom.

    ``statement_bytes`` is what statements at work take beyond the usual; ``items`` are the global buffers one by one.
    """

    global_bytes: int
    connections: int
    statement_bytes: int = 0
    items: tuple[BudgetItem, ...] = field(default=(), compare=False)

    @property
    def other_bytes(self) -> int:
        return self.global_bytes + self.connections * CONNECTION_BYTES + self.statement_bytes

    def expected_bytes(self, pool_bytes: float) -> float:
        """All of it with a pool of this size."""
        return pool_bytes * POOL_OVERHEAD + self.other_bytes

    def with_connections(self, pool_bytes: float, connections: int) -> float:
        """All of it with a pool of this size, if there were so many connections at once."""
        return pool_bytes * POOL_OVERHEAD + self.global_bytes + self.statement_bytes + connections * CONNECTION_BYTES

    def connections_within(self, memory_bytes: float, pool_bytes: float) -> int:
        """How many connections fit into this memory beside everything else; may be below zero where nothing fits."""
        return int((memory_bytes - self.with_connections(pool_bytes, 0)) // CONNECTION_BYTES)

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

    def budget(self, pool_bytes: int) -> tuple[BudgetItem, ...]:
        """Every line of it with a pool of this size, the largest first; their sum is ``expected_bytes``."""
        lines = [
            BudgetItem("buffer pool and what belongs to it", round(pool_bytes * POOL_OVERHEAD), "buffer pool x 1.1"),
            *self.items,
            BudgetItem(
                "connections",
                self.connections * CONNECTION_BYTES,
                f"the {self.connections} that there ever were at once x 2 MiB",
            ),
            BudgetItem("statements at work", self.statement_bytes, "what their buffers are larger than 4 MiB"),
        ]
        return tuple(sorted((line for line in lines if line.bytes), key=lambda line: (-line.bytes, line.name)))


def memory_need(
    variables: Mapping[str, str],
    max_used_connections: int,
    *,
    performance_schema_bytes: int | None = None,
    threads_running: int = 0,
) -> MemoryNeed:
    """What follows from the variables, and from how many connections and statements at work there ever were at once.

    ``performance_schema_bytes`` is what it really takes, where an inspection read that.
    """
    items = [BudgetItem(name, _bytes(variables, name), "system variable") for name in GLOBAL_BUFFERS]
    if variables.get("performance_schema", "OFF").upper() in {"ON", "1"}:
        known = performance_schema_bytes is not None
        taken = performance_schema_bytes if performance_schema_bytes is not None else PERFORMANCE_SCHEMA_BYTES
        items.append(BudgetItem("performance_schema", taken, "as it says itself" if known else "usual at this size"))
    tables = _bytes(variables, "table_open_cache")
    items.append(BudgetItem("table caches", tables * TABLE_BYTES, "table_open_cache x 10 KiB"))
    large = max(0, sum(_bytes(variables, name) for name in STATEMENT_BUFFERS) - USUAL_STATEMENT_BYTES)
    return MemoryNeed(
        sum(item.bytes for item in items),
        max_used_connections,
        threads_running * large,
        tuple(item for item in items if item.bytes),
    )


def _bytes(variables: Mapping[str, str], name: str) -> int:
    """A variable as a whole number, 0 where there is none."""
    try:
        return parse_integer(variables.get(name, "0"))
    except BadValue:
        return 0
