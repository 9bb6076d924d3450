"""With all connections that it admits the server would not fit into memory.

Why it matters
    max_connections is a promise: so many clients are let in. Where memory is not enough for them all, a flood of
    connections (a slow query, a retry loop, a pool that was configured twice) ends with swapping or with a killed
    server instead of with an error message that clients can handle.

How it is computed
    The budget is the buffer pool x 1.1, the global buffers, performance_schema (as an inspection read it, else 200
    MiB), 10 KiB for each table of table_open_cache, and 2 MiB for each of max_connections; plus, for the statements
    that were at work at once, what their sort, join and read buffers are larger than 4 MiB in sum. It fires where
    that is more than the host's memory, though what is used now fits (if it does not, another rule says so). The
    proposal is what fits, but at least 151 and a third more than there ever were at once. Every line of the budget
    stands among the figures.

When to dismiss it
    A pool of connections in front of the server holds the number down.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.facts.connections import ConnectionLimit
from advisor.engine.facts.memory import BufferPool, ExpectedUse, HostMemory
from advisor.engine.outcome import Finding, Item, Measured, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene, stated
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import GIB, Quantity, Unit
from advisor.mysql.proposal import Change, Investigate, SetVariable


@dataclass(frozen=True)
class Parameters(Thresholds):
    """When the promise is too big."""

    memory_ratio: float = threshold(
        1.0, unit=Unit.RATIO, meaning="the whole budget as a share of the host's memory", leave_at=0.97
    )
    now_ratio: float = threshold(
        0.95, unit=Unit.RATIO, meaning="present use as a share of the host's memory, above which the pool is the matter"
    )


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/memory-use.html",
        "https://mariadb.com/docs/server/ha-and-performance/optimization-and-tuning/system-variables/server-system-variables",
    ],
)


@rule.check
def check(
    pool: BufferPool, use: ExpectedUse, memory: HostMemory, limit: ConnectionLimit, p: Parameters
) -> Finding | Passed:
    promised = use.need.with_connections(pool.size_bytes, limit.maximum)
    figures = (
        Measured("memory with all connections", round(promised), Unit.BYTES, None, "the budget"),
        *memory.measured(),
        *limit.measured(),
        *use.measured(pool.size_bytes),
    )
    now = use.need.expected_bytes(pool.size_bytes)
    fitting = use.need.connections_within(p.memory_ratio * memory.bytes, pool.size_bytes)
    wanted = limit.lowered(fitting)
    if promised <= p.memory_ratio * memory.bytes or now > p.now_ratio * memory.bytes or wanted >= limit.maximum:
        return Passed(figures)
    enough = wanted <= fitting
    proposal: tuple[Change, ...] = (
        (SetVariable("max_connections", wanted),)
        if enough
        else (
            Investigate(
                "Not even the connections that are needed would all fit: make the buffer pool smaller, or put a pool "
                "of connections in front of the server."
            ),
        )
    )
    return Finding(
        (
            Item(
                message=Message(
                    "{connections} connections are admitted, with which {promised} of {memory} would be needed",
                    {
                        "connections": Quantity(limit.maximum, Unit.COUNT),
                        "promised": Quantity(promised, Unit.BYTES),
                        "memory": Quantity(memory.bytes, Unit.BYTES),
                    },
                ),
                evidence=figures,
                proposal=proposal,
                expected=Message("A flood of connections is turned away before memory runs out.") if enough else None,
                price=(
                    Price(
                        PriceKind.OVERHEAD,
                        Message("clients above the limit are refused"),
                        Quantity(limit.maximum, Unit.COUNT),
                        Quantity(wanted, Unit.COUNT),
                    ),
                )
                if enough
                else (),
                would_change_our_mind=Message("More memory than was stated, or a pool of connections in front."),
            ),
        )
    )


rule.fires(
    "5,000 connections admitted beside a pool of 4 GiB on a host with 8 GiB",
    scene(
        "mysql 8.0.33",
        {"innodb_buffer_pool_size": 4 * GIB, "max_connections": 5000, "open_files_limit": 50_000},
        status={"Max_used_connections": 200, "Threads_connected": 40},
        host=stated(memory_bytes=8 * GIB),
    ),
    proposes={"max_connections": 600},
)
rule.fires(
    "MariaDB, where it was never near",
    scene(
        "mariadb 10.11.18",
        {"innodb_buffer_pool_size": 4 * GIB, "max_connections": 3000, "open_files_limit": 50_000},
        status={"Max_used_connections": 20, "Threads_connected": 10},
        host=stated(memory_bytes=8 * GIB),
    ),
    proposes={"max_connections": 151},
)
rule.passes(
    "The same server with 500 connections",
    scene(
        "mysql 8.0.33",
        {"innodb_buffer_pool_size": 4 * GIB, "max_connections": 500, "open_files_limit": 50_000},
        status={"Max_used_connections": 200, "Threads_connected": 40},
        host=stated(memory_bytes=8 * GIB),
    ),
)
rule.passes(
    "The default on MariaDB",
    scene(
        "mariadb 10.11.18",
        status={"Max_used_connections": 20, "Threads_connected": 10},
        host=stated(memory_bytes=8 * GIB),
    ),
)
