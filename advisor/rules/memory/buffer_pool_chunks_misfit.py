"""The buffer pool is made of too many chunks.

Why it matters
    The pool is allocated, and resized, in chunks of innodb_buffer_pool_chunk_size. Each of them has its own tables
    of descriptors and is one step of every resize: with thousands of them a resize takes long and holds up queries,
    and the manual asks for no more than a thousand.

How it is computed
    innodb_buffer_pool_size divided by innodb_buffer_pool_chunk_size is above 1,000. The proposal is the smallest
    power of two with which no more than 128 chunks remain and the pool keeps its size, which has to be a multiple
    of chunk size times instances. MariaDB chooses its chunks by itself from 10.8 on.

When to dismiss it
    The server is never resized while it runs, and starts fast enough.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.facts.memory import PoolLayout
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import GIB, MIB, Quantity, Unit
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class Parameters(Thresholds):
    """How many chunks are too many."""

    most_chunks: float = threshold(1000, unit=Unit.COUNT, meaning="chunks that a pool may be made of")
    wanted_chunks: float = threshold(128, unit=Unit.COUNT, meaning="chunks that a proposal leaves at most")


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2,<10.6"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-buffer-pool-resize.html",
        "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-buffer-pool",
    ],
)


@rule.check
def check(layout: PoolLayout, p: Parameters) -> Finding | Passed:
    if layout.chunks <= p.most_chunks:
        return Passed(layout.measured())
    chunk = MIB
    while layout.size_bytes / chunk > p.wanted_chunks:
        chunk *= 2
    # The server rounds the pool up to whole chunks in each instance: a smaller chunk that fits is better than that.
    while layout.size_bytes % (chunk * layout.instances) and layout.size_bytes / (chunk / 2) <= p.most_chunks:
        chunk //= 2
    return Finding(
        (
            Item(
                message=Message(
                    "The buffer pool of {size} is made of {chunks} chunks",
                    {
                        "size": Quantity(layout.size_bytes, Unit.BYTES),
                        "chunks": Quantity(round(layout.chunks), Unit.COUNT),
                    },
                ),
                evidence=layout.measured(),
                proposal=(SetVariable("innodb_buffer_pool_chunk_size", chunk),),
                expected=Message("Resizing the pool takes fewer and larger steps."),
                price=(
                    Price(
                        PriceKind.RESTART,
                        Message("sizes of the pool are multiples of chunk size times instances"),
                        Quantity(layout.chunk_bytes * layout.instances, Unit.BYTES),
                        Quantity(chunk * layout.instances, Unit.BYTES),
                    ),
                ),
                would_change_our_mind=Message("A reason for which the pool is resized in such small steps."),
            ),
        )
    )


rule.fires(
    "64 GiB in chunks of 32 MiB",
    scene("mysql 8.0.33", {"innodb_buffer_pool_size": 64 * GIB, "innodb_buffer_pool_chunk_size": 32 * MIB}),
    proposes={"innodb_buffer_pool_chunk_size": 512 * MIB},
)
rule.fires(
    "MariaDB 10.5 with 2 GiB in chunks of 1 MiB",
    scene("mariadb 10.5.23", {"innodb_buffer_pool_size": 2 * GIB, "innodb_buffer_pool_chunk_size": MIB}),
    proposes={"innodb_buffer_pool_chunk_size": 16 * MIB},
)
rule.passes(
    "A thousand chunks are allowed",
    scene("mysql 8.0.33", {"innodb_buffer_pool_size": 125 * GIB, "innodb_buffer_pool_chunk_size": 128 * MIB}),
)
rule.passes("The defaults", scene("mariadb 10.5.23"))
