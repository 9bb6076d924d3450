"""The buffer pool is cut into instances that are too small.

Why it matters
    Every instance has its own list of recently used pages and its own free pages. Instances of a few MiB evict
    pages that the whole pool had room for, keep innodb_lru_scan_depth pages free each, and gain nothing: one
    instance is split by latches well enough up to several GiB.

How it is computed
    Instances are below 96 MiB while there are several of them. The proposal is one for each GiB of the pool. There
    is no number that the instances have to equal: every other value passes, since no measurement speaks against it.
    One instance of 32 GiB or more passes as well: newer versions have split its latches, and older ones choose
    eight by themselves.

When to dismiss it
    Nothing speaks for such small instances but a measurement of your own.
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
    """When instances are too small."""

    smallest_bytes: float = threshold(
        96 * MIB, unit=Unit.BYTES, meaning="size of an instance below which it is too small"
    )


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2,<10.5"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-buffer-pool-resize.html",
        "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-buffer-pool",
    ],
)


@rule.check
def check(layout: PoolLayout, p: Parameters) -> Finding | Passed:
    if layout.instances == 1 or layout.instance_bytes >= p.smallest_bytes:
        return Passed(layout.measured())
    wanted = max(1, layout.size_bytes // GIB)
    return Finding(
        (
            Item(
                message=Message(
                    "The buffer pool of {size} is cut into {instances} instances of {each}",
                    {
                        "size": Quantity(layout.size_bytes, Unit.BYTES),
                        "instances": Quantity(layout.instances, Unit.COUNT),
                        "each": Quantity(layout.instance_bytes, Unit.BYTES),
                    },
                ),
                evidence=layout.measured(),
                proposal=(SetVariable("innodb_buffer_pool_instances", wanted),),
                expected=Message("Pages stay in memory as long as the whole pool has room for them."),
                price=(Price(PriceKind.RESTART, Message("the pool is empty after the restart and fills again")),),
                would_change_our_mind=Message("A measurement in which these instances were faster."),
            ),
        )
    )


rule.fires(
    "1 GiB in 64 instances",
    scene(
        "mysql 8.0.33",
        {
            "innodb_buffer_pool_size": GIB,
            "innodb_buffer_pool_instances": 64,
            "innodb_buffer_pool_chunk_size": 16 * MIB,
        },
    ),
    proposes={"innodb_buffer_pool_instances": 1},
)
rule.fires(
    "MariaDB 10.2 with 2 GiB in 32 instances",
    scene(
        "mariadb 10.2.11",
        {
            "innodb_buffer_pool_size": 2 * GIB,
            "innodb_buffer_pool_instances": 32,
            "innodb_buffer_pool_chunk_size": 32 * MIB,
        },
    ),
    proposes={"innodb_buffer_pool_instances": 2},
)
rule.passes(
    "The default of eight for 1 GiB",
    scene(
        "mysql 5.7.22",
        {
            "innodb_buffer_pool_size": GIB,
            "innodb_buffer_pool_instances": 8,
            "innodb_buffer_pool_chunk_size": 128 * MIB,
        },
    ),
)
rule.passes("One instance", scene("mariadb 10.2.11", {"innodb_buffer_pool_instances": 1}))
