"""A large part of the buffer pool was never used.

Why it matters
    Memory that no page ever filled is missing elsewhere: in the system's cache, in other programs, in the buffers
    of connections, or on the bill of a machine that is larger than it has to be.

How it is computed
    From a server that has been up for a week at least, with a pool of 1 GiB or more: the fewest free pages there
    ever were are more than 30 % of the pool. Free pages are pages that nothing was ever read into, so that a pool
    which still has them after a week is larger than all that was touched. The proposal is what was used and a
    quarter more, never below 1 GiB.

When to dismiss it
    The data grows, or the month's end with its reports is still to come.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.facts.memory import BufferPool, FreePages, MemoryCeiling
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity, unused
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import GIB, MIB, Quantity, Unit


@dataclass(frozen=True)
class Parameters(Thresholds):
    """When a pool is too big."""

    free_ratio: float = threshold(
        0.30, unit=Unit.RATIO, meaning="pages never used after a week, as a share of the pool", leave_at=0.25
    )
    smallest_bytes: float = threshold(GIB, unit=Unit.BYTES, meaning="pools up to this size are not worth shrinking")
    reserve_ratio: float = threshold(1.25, unit=Unit.RATIO, meaning="proposed size as a multiple of what was used")


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-buffer-pool-resize.html",
        "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-buffer-pool",
    ],
)


@rule.check
def check(pool: BufferPool, free: FreePages, memory: MemoryCeiling, p: Parameters) -> Finding | Passed:
    figures = pool.measured() + unused(free.measured())
    wanted = max(p.reserve_ratio * free.used_bytes, p.smallest_bytes)
    size = pool.grown_to(wanted, pool.size_bytes)
    if free.free_ratio <= p.free_ratio or pool.size_bytes <= p.smallest_bytes or size >= pool.size_bytes:
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message(
                    "{free} of the buffer pool of {size} was never used",
                    {
                        "free": Quantity(free.free_ratio, Unit.RATIO),
                        "size": Quantity(pool.size_bytes, Unit.BYTES),
                    },
                ),
                evidence=figures + memory.measured(),
                proposal=pool.change_to(size, memory.share(1.0, otherwise=0)),
                expected=Message("{less} of memory for others", {"less": Quantity(pool.size_bytes - size, Unit.BYTES)}),
                price=(
                    Price(
                        PriceKind.READ_LATENCY,
                        Message("shrinking takes pages out of the pool; data that grows no longer fits as long"),
                        Quantity(pool.size_bytes, Unit.BYTES),
                        Quantity(size, Unit.BYTES),
                    ),
                ),
                would_change_our_mind=Message("Data that is about to grow, or a busy season that is still to come."),
            ),
        )
    )


def _free(pages: int, total: int) -> dict[str, int]:
    return {"Innodb_buffer_pool_pages_free": pages, "Innodb_buffer_pool_pages_total": total}


rule.fires(
    "8 GiB of which 5 were never used in a month",
    scene("mysql 8.0.33", {"innodb_buffer_pool_size": 8 * GIB}, gauges=_free(327_680, 524_288)),
    proposes={"innodb_buffer_pool_size": 3840 * MIB},
)
rule.fires(
    "MariaDB, in whole MiB",
    scene("mariadb 10.11.18", {"innodb_buffer_pool_size": 4 * GIB}, gauges=_free(200_000, 259_000)),
    proposes={"innodb_buffer_pool_size": 1167 * MIB},
)
rule.passes(
    "A fifth free after a month",
    scene("mysql 8.0.33", {"innodb_buffer_pool_size": 8 * GIB}, gauges=_free(104_857, 524_288)),
)
rule.passes(
    "A pool of 1 GiB is left alone",
    scene("mariadb 10.11.18", {"innodb_buffer_pool_size": GIB}, gauges=_free(60_000, 65_000)),
)
