"""The buffer pool cannot grow without a restart.

Why it matters
    Newer MariaDB servers reserve address space for the pool once, at their start: innodb_buffer_pool_size_max. From
    11.8 on the default is the size the pool starts with, so that SET GLOBAL innodb_buffer_pool_size to anything
    larger is answered with a warning and changes nothing. Who finds out needs a restart at the very moment when the
    pool is too small.

How it is computed
    innodb_buffer_pool_size_max equals the size of the pool (or is less than a tenth larger), while the pool takes
    less than half of the host's memory. The proposal is 80 % of the host's memory: address space, which takes no
    memory. Servers without that variable are not concerned.

When to dismiss it
    The size is final: a container whose memory never changes, or a server that is rebuilt to be resized.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.facts.memory import HostMemory, ceiling_for
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene, stated
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import GIB, MIB, Quantity, Unit
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class PoolCeiling(Settings):
    """The pool and up to where it grows while the server runs, in bytes."""

    innodb_buffer_pool_size: int
    innodb_buffer_pool_size_max: int


@dataclass(frozen=True)
class Parameters(Thresholds):
    """When a ceiling is too low."""

    room_ratio: float = threshold(
        1.1, unit=Unit.RATIO, meaning="the ceiling as a multiple of the pool's size, up to which nothing can grow"
    )
    memory_ratio: float = threshold(
        0.5, unit=Unit.RATIO, meaning="share of the host's memory below which a pool may want to grow"
    )


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mariadb>=10.11,<11", "mariadb>=11.8"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-buffer-pool-resize.html",
        "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-buffer-pool",
    ],
)


@rule.check
def check(pool: PoolCeiling, memory: HostMemory, p: Parameters) -> Finding | Passed:
    figures = pool.measured() + memory.measured()
    size, ceiling = pool.innodb_buffer_pool_size, pool.innodb_buffer_pool_size_max
    wanted = ceiling_for(memory.bytes, size)
    if ceiling > p.room_ratio * size or size >= p.memory_ratio * memory.bytes or wanted <= ceiling:
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message(
                    "The buffer pool of {size} cannot grow before a restart, though the host has {memory}",
                    {"size": Quantity(size, Unit.BYTES), "memory": Quantity(memory.bytes, Unit.BYTES)},
                ),
                evidence=figures,
                proposal=(SetVariable("innodb_buffer_pool_size_max", wanted),),
                expected=Message("From the next restart on the pool can be resized while the server runs."),
                price=(
                    Price(
                        PriceKind.RESTART,
                        Message("address space is reserved at the start; it takes no memory by itself"),
                        Quantity(ceiling, Unit.BYTES),
                        Quantity(wanted, Unit.BYTES),
                    ),
                ),
                would_change_our_mind=Message("A pool that will never be resized."),
            ),
        )
    )


rule.fires(
    "MariaDB 11.8 with its default, on a host with 8 GiB",
    scene("mariadb 11.8.6", {"innodb_buffer_pool_size_max": 128 * MIB}, host=stated(memory_bytes=8 * GIB)),
    proposes={"innodb_buffer_pool_size_max": 6552 * MIB},
)
rule.passes(
    "MariaDB 10.11, whose default leaves 8 TiB",
    scene("mariadb 10.11.18", {"innodb_buffer_pool_size_max": 8192 * GIB}, host=stated(memory_bytes=8 * GIB)),
)
rule.passes(
    "A pool that has most of the memory already",
    scene(
        "mariadb 11.8.6",
        {"innodb_buffer_pool_size": 5 * GIB, "innodb_buffer_pool_size_max": 5 * GIB},
        host=stated(memory_bytes=8 * GIB),
    ),
)
