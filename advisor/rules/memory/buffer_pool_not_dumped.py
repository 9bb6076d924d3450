"""A restart leaves a large buffer pool empty.

Why it matters
    After a restart every page has to be read from disk again, by random reads, while clients wait: a pool of many
    GiB takes minutes to hours to warm up. InnoDB can write down at shutdown which pages were used most, a few MiB,
    and read them in order at the next start, which takes a fraction of that time.

How it is computed
    innodb_buffer_pool_dump_at_shutdown or innodb_buffer_pool_load_at_startup is OFF (both are ON by default) while
    the pool has 1 GiB or more.

When to dismiss it
    A restart has to answer as fast as possible with a cold pool, on storage that cannot bear the reads.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import GIB, Quantity, Unit
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class PoolDump(Settings):
    """Whether the pool's pages are written down at shutdown and read at startup, and the pool's size in bytes."""

    innodb_buffer_pool_size: int
    innodb_buffer_pool_dump_at_shutdown: bool
    innodb_buffer_pool_load_at_startup: bool


@dataclass(frozen=True)
class Parameters(Thresholds):
    """Which pools are worth it."""

    smallest_bytes: float = threshold(GIB, unit=Unit.BYTES, meaning="size of the pool from which on it is worth it")


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-preload-buffer-pool.html",
        "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-buffer-pool",
    ],
)


@rule.check
def check(dump: PoolDump, p: Parameters) -> Finding | Passed:
    off = [
        name
        for name in ("innodb_buffer_pool_dump_at_shutdown", "innodb_buffer_pool_load_at_startup")
        if not getattr(dump, name)
    ]
    if not off or dump.innodb_buffer_pool_size < p.smallest_bytes:
        return Passed(dump.measured())
    return Finding(
        (
            Item(
                message=Message(
                    "After a restart the buffer pool of {size} starts empty",
                    {"size": Quantity(dump.innodb_buffer_pool_size, Unit.BYTES)},
                ),
                evidence=dump.measured(),
                proposal=tuple(SetVariable(name, True) for name in off),
                expected=Message("The pages that were used most are back soon after a restart."),
                price=(Price(PriceKind.READ_LATENCY, Message("reads in the background for a while after each start")),),
                would_change_our_mind=Message("Storage that cannot bear these reads right after a start."),
            ),
        )
    )


rule.fires(
    "8 GiB, never written down",
    scene(
        "mysql 8.0.33",
        {"innodb_buffer_pool_size": 8 * GIB, "innodb_buffer_pool_dump_at_shutdown": "OFF"},
    ),
    proposes={"innodb_buffer_pool_dump_at_shutdown": True},
)
rule.fires(
    "MariaDB with both off",
    scene(
        "mariadb 10.11.18",
        {
            "innodb_buffer_pool_size": 8 * GIB,
            "innodb_buffer_pool_dump_at_shutdown": "OFF",
            "innodb_buffer_pool_load_at_startup": "OFF",
        },
    ),
    proposes={"innodb_buffer_pool_dump_at_shutdown": True, "innodb_buffer_pool_load_at_startup": True},
)
rule.passes("A pool of 128 MiB fills by itself", scene("mysql 5.7.22", {"innodb_buffer_pool_load_at_startup": "OFF"}))
rule.passes("Both are on", scene("mariadb 10.11.18", {"innodb_buffer_pool_size": 8 * GIB}))
