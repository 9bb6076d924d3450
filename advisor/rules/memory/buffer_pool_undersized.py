"""The buffer pool is too small for what is read.

Why it matters
    Pages that do not fit are read from disk again and again. Each read waits for the device, and every page that
    comes in pushes another one out, dirty ones after being written first.

How it is computed
    From a pool that was filled by its own load (a day of uptime and an hour of observation; ten minutes of uptime
    where a person asks for this very window): it was full, and at least 500 pages a second are read from disk in
    half of the intervals, or threads waited for a free page in 5 % of the intervals (in two at least) while pages
    were read. Full is a pool with at most 1 % of its pages free, or at most 1.1 times the pages that InnoDB keeps
    free by itself (innodb_lru_scan_depth in each instance; MariaDB has one instance since 10.5): in a small pool
    those are many. Ratios of hits are not used: they count page accesses, which scans flatter. The
    proposal is half as much again, at most what the host's memory has room for: three quarters of it, and no more
    than leaves 15 % after everything else the server uses. Without the host's memory no size is named.

When to dismiss it
    A backup or a scan was running in the window: no pool holds those.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.facts.memory import BufferPool, MemoryCeiling, MemoryUse, PoolMisses
from advisor.engine.memory import MemoryThresholds
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene, stated
from advisor.engine.thresholds import threshold
from advisor.engine.units import GIB, MIB, Quantity, Unit
from advisor.mysql.proposal import Change, Investigate


@dataclass(frozen=True)
class Parameters(MemoryThresholds):
    """When a pool is too small."""

    free_ratio: float = threshold(
        0.01, unit=Unit.RATIO, meaning="free pages up to which a pool is full, as a share of it", leave_at=0.02
    )
    kept_free_ratio: float = threshold(
        1.1,
        unit=Unit.RATIO,
        meaning="the same as a multiple of innodb_lru_scan_depth in all instances",
        leave_at=1.3,
    )
    reads_per_second: float = threshold(
        500, unit=Unit.PAGES_PER_SECOND, meaning="pages read from disk, in half of the intervals", leave_at=400
    )
    waiting_ratio: float = threshold(
        0.05, unit=Unit.RATIO, meaning="share of intervals with waits for a free page", leave_at=0.02
    )
    waiting_reads_per_second: float = threshold(
        50,
        unit=Unit.PAGES_PER_SECOND,
        meaning="pages read from disk that make such waits the pool's fault",
        leave_at=40,
    )
    growth_ratio: float = threshold(1.5, unit=Unit.RATIO, meaning="the proposed size as a multiple of the present one")


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.1",
    parameters=Parameters(),
    caused_by=[PoolMisses],
    raises=["innodb_buffer_pool_size"],
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-buffer-pool-resize.html",
        "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-buffer-pool",
    ],
)


@rule.check
def check(
    pool: BufferPool, misses: PoolMisses, memory: MemoryCeiling, use: MemoryUse, p: Parameters
) -> Finding | Passed:
    figures = pool.measured() + misses.measured()
    waits = (
        misses.wait_free_intervals >= max(2, p.waiting_ratio * misses.intervals)
        and misses.median_reads >= p.waiting_reads_per_second
    )
    full = misses.is_full(share=p.free_ratio, kept=p.kept_free_ratio)
    if not full or (misses.median_reads < p.reads_per_second and not waits):
        return Passed(figures)
    proposal: tuple[Change, ...]
    price: tuple[Price, ...] = ()
    if memory.bytes is None:
        proposal = (
            Investigate(
                "Tell how much memory the host has (on the server's page, or --host-memory 8G): "
                "without it no size can be named."
            ),
        )
    else:
        room = use.need.largest_pool_bytes(memory.bytes, p)
        size = pool.grown_to(p.growth_ratio * pool.size_bytes, room)
        if size <= pool.size_bytes:
            proposal = (
                Investigate(
                    "The buffer pool has what the host's memory allows: look for statements that read more than "
                    "they need, or give the host more memory."
                ),
            )
        else:
            proposal = pool.change_to(size, memory.bytes)
            price = (
                Price(
                    PriceKind.MEMORY,
                    Message("{more} more memory", {"more": Quantity(size - pool.size_bytes, Unit.BYTES)}),
                    Quantity(pool.size_bytes, Unit.BYTES),
                    Quantity(size, Unit.BYTES),
                ),
            )
    return Finding(
        (
            Item(
                message=Message(
                    "The buffer pool of {size} reads {pages} from disk",
                    {
                        "size": Quantity(pool.size_bytes, Unit.BYTES),
                        "pages": Quantity(misses.median_reads, Unit.PAGES_PER_SECOND),
                    },
                ),
                evidence=figures,
                proposal=proposal,
                expected=Message("Fewer pages are read from disk.") if price else None,
                price=price,
                would_change_our_mind=Message("A backup, an import or a full scan in the window."),
            ),
        )
    )


#: Full pools of 128 MiB as real servers show them: they keep innodb_lru_scan_depth pages free.
_FULL = {"Innodb_buffer_pool_pages_total": 8192, "Innodb_buffer_pool_pages_free": 1003}
_FULL_MARIADB = {"Innodb_buffer_pool_pages_total": 8112, "Innodb_buffer_pool_pages_free": 1497}
rule.fires(
    "128 MiB reading 900 pages a second on a host with 8 GiB",
    scene(
        "mysql 8.0.33",
        gauges=_FULL,
        counters={"Innodb_pages_read": 900},
        deliberate=True,
        host=stated(memory_bytes=8 * GIB),
    ),
    proposes={"innodb_buffer_pool_size": 256 * MIB},
)
rule.fires(
    "MariaDB 11.8, whose pool only grows at a restart above innodb_buffer_pool_size_max",
    scene(
        "mariadb 11.8.6",
        {"innodb_buffer_pool_size_max": 128 * MIB, "innodb_lru_scan_depth": 1536},
        gauges=_FULL_MARIADB,
        counters={"Innodb_pages_read": 900},
        deliberate=True,
        host=stated(memory_bytes=8 * GIB),
    ),
    proposes={"innodb_buffer_pool_size": 192 * MIB, "innodb_buffer_pool_size_max": 6552 * MIB},
)
rule.fires(
    "Without the host's memory no size is named",
    scene("mysql 5.7.22", gauges=_FULL, counters={"Innodb_pages_read": 900}, deliberate=True),
)
rule.fires(
    "32 GiB in eight instances, each of which keeps its own pages free",
    scene(
        "mysql 8.0.33",
        {"innodb_buffer_pool_size": 32 * GIB, "innodb_buffer_pool_instances": 8, "innodb_lru_scan_depth": 4096},
        gauges={"Innodb_buffer_pool_pages_total": 2_097_152, "Innodb_buffer_pool_pages_free": 32_700},
        counters={"Innodb_pages_read": 4000},
        deliberate=True,
        host=stated(memory_bytes=128 * GIB),
    ),
    proposes={"innodb_buffer_pool_size": 48 * GIB},
)
rule.passes(
    "A pool that is a third empty reads pages for the first time",
    scene(
        "mariadb 11.8.6",
        {"innodb_lru_scan_depth": 1536},
        gauges={"Innodb_buffer_pool_pages_total": 8112, "Innodb_buffer_pool_pages_free": 2700},
        counters={"Innodb_pages_read": 900},
        deliberate=True,
    ),
)
rule.passes(
    "A full pool that reads 20 pages a second",
    scene("mysql 8.0.33", gauges=_FULL, counters={"Innodb_pages_read": 20}, deliberate=True),
)
