"""The buffer pool is too big for the host's memory.

Why it matters
    A server that needs more memory than there is swaps, or is killed. Swapped-out buffer pool pages are worse than
    pages that were never cached, and a killed server is an outage.

How it is computed
    Expected use = buffer pool x 1.1 + global buffers (log buffer, key buffer, Aria cache, query cache,
    performance_schema, table caches) + the highest number of connections there ever was x 2 MiB + what the buffers
    of statements at work are larger than 4 MiB. That is an upper bound: the descriptors and the hash beside the
    pages take 3 to 8 %, and not every buffer is ever filled. So it fires, as a warning of medium confidence, when
    the sum is more than 95 % of the host's memory; 209 GiB of 256 GiB, as many servers are set up on purpose, are
    no fault. Critical is only what cannot fit whatever the load is: the pool as it is, without any factor, and the
    global buffers together exceed the host's memory. The proposal is the biggest pool that leaves 15 % of it, and
    is at most three quarters of it. Per-thread buffers are never multiplied by max_connections: that sum is reached
    by no server.

When to dismiss it
    The memory that was stated is wrong, or a container's limit was stated that is about to be raised.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.facts.memory import BufferPool, ExpectedUse, HostMemory
from advisor.engine.memory import MemoryThresholds
from advisor.engine.outcome import Finding, Item, Measured, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene, stated
from advisor.engine.thresholds import threshold
from advisor.engine.units import GIB, MIB, Quantity, Unit
from advisor.mysql.proposal import Change, Investigate


@dataclass(frozen=True)
class Parameters(MemoryThresholds):
    """When memory is exceeded."""

    expected_ratio: float = threshold(
        0.95, unit=Unit.RATIO, meaning="expected use as a share of the host's memory", leave_at=0.92
    )
    certain_ratio: float = threshold(
        1.0,
        unit=Unit.RATIO,
        meaning="pool and global buffers alone as a share of the host's memory, from where on it is critical",
    )


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.1",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/memory-use.html",
        "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-buffer-pool",
    ],
)


@rule.check
def check(pool: BufferPool, use: ExpectedUse, memory: HostMemory, p: Parameters) -> Finding | Passed:
    expected = use.need.expected_bytes(pool.size_bytes)
    figures = (
        *pool.measured(),
        *memory.measured(),
        Measured(
            "memory the server is expected to use", round(expected), Unit.BYTES, None, "buffer pool x 1.1 + the rest"
        ),
        Measured("most connections at once", use.need.connections, Unit.COUNT, None, "Max_used_connections"),
        *use.measured(pool.size_bytes),
    )
    if expected <= p.expected_ratio * memory.bytes:
        return Passed(figures)
    room = use.need.largest_pool_bytes(memory.bytes, p)
    size = pool.grown_to(max(room, pool.step_bytes), room)
    certain = use.need.certain_bytes(pool.size_bytes) > p.certain_ratio * memory.bytes
    fits = 0 < room and size <= room and size < pool.size_bytes
    proposal: tuple[Change, ...] = (
        pool.change_to(size, memory.bytes)
        if fits
        else (
            Investigate(
                "Even with the smallest buffer pool the other buffers do not fit into this memory: "
                "look at key_buffer_size, the Aria cache and the number of connections."
            ),
        )
    )
    return Finding(
        (
            Item(
                message=Message(
                    "The server is expected to use {expected} of {memory}",
                    {"expected": Quantity(expected, Unit.BYTES), "memory": Quantity(memory.bytes, Unit.BYTES)},
                ),
                evidence=figures,
                proposal=proposal,
                severity=Severity.CRITICAL if certain else None,
                expected=Message("The server no longer competes with the system for memory.") if fits else None,
                price=(
                    Price(
                        PriceKind.READ_LATENCY,
                        Message("pages that no longer fit are read from disk"),
                        Quantity(pool.size_bytes, Unit.BYTES),
                        Quantity(size, Unit.BYTES),
                    ),
                )
                if fits
                else (),
                would_change_our_mind=Message("More memory than was stated."),
            ),
        )
    )


rule.fires(
    "A pool of 7 GiB on a host with 8 GiB",
    scene(
        "mysql 8.0.33",
        {"innodb_buffer_pool_size": 7 * GIB},
        status={"Max_used_connections": 40},
        host=stated(memory_bytes=8 * GIB),
    ),
    proposes={"innodb_buffer_pool_size": 6016 * MIB},
)
rule.fires(
    "MariaDB with a pool of 9 GiB on the same host: critical",
    scene(
        "mariadb 10.11.18",
        {"innodb_buffer_pool_size": 9 * GIB},
        status={"Max_used_connections": 40},
        host=stated(memory_bytes=8 * GIB),
    ),
    proposes={"innodb_buffer_pool_size": 5991 * MIB},
)
rule.passes(
    "A pool of 209 GiB on a host with 256 GiB",
    scene(
        "mysql 8.0.33",
        {"innodb_buffer_pool_size": 209 * GIB},
        status={"Max_used_connections": 400},
        host=stated(memory_bytes=256 * GIB),
    ),
)
rule.passes(
    "A pool of 5 GiB on the same host",
    scene(
        "mysql 8.0.33",
        {"innodb_buffer_pool_size": 5 * GIB},
        status={"Max_used_connections": 40},
        host=stated(memory_bytes=8 * GIB),
    ),
)
