"""The page cache of Aria is too small for what is read.

Why it matters
    Aria tables, and the temporary tables that MariaDB writes to disk, have their pages in a cache of their own.
    Where it is too small their pages come from files, which makes large sorts and groupings slow although memory
    may be there.

How it is computed
    From rates: at least 50 pages a second are read from files, they are more than 1 % of those asked for, and the
    cache has been full (less than a tenth of it is unused). The proposal doubles it, up to a quarter of the host's
    memory where that is known, else up to 1 GiB.

When to dismiss it
    The reads come from one large statement that may take its time, or from a backup.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import HarmRates, Status
from advisor.engine.facts.memory import AriaCache, MemoryCeiling
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import GIB, MIB, Quantity, Unit
from advisor.mysql.proposal import Change, Investigate, SetVariable


@dataclass(frozen=True)
class UnusedAriaBlocks(Status):
    """How many pages of the cache hold nothing."""

    aria_pagecache_blocks_unused: int


@dataclass(frozen=True)
class AriaReads(HarmRates):
    """Pages read from files, and asked for, per second."""

    aria_pagecache_reads: float
    aria_pagecache_read_requests: float


@dataclass(frozen=True)
class Parameters(Thresholds):
    """When a page cache is too small."""

    reads_per_second: float = threshold(50, unit=Unit.PER_SECOND, meaning="pages read from files", leave_at=40)
    missed_ratio: float = threshold(
        0.01, unit=Unit.RATIO, meaning="share of the pages asked for that were read from files", leave_at=0.008
    )
    unused_ratio: float = threshold(
        0.1, unit=Unit.RATIO, meaning="share of the cache that is empty, up to which it is full", leave_at=0.15
    )
    memory_ratio: float = threshold(0.25, unit=Unit.RATIO, meaning="share of the host's memory that it may take")
    largest_bytes: float = threshold(GIB, unit=Unit.BYTES, meaning="the largest where memory is not known")


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    caused_by=[AriaReads],
    raises=["aria_pagecache_buffer_size"],
    references=[
        "https://mariadb.com/docs/server/server-usage/storage-engines/aria/aria-system-variables",
    ],
)


@rule.check
def check(
    cache: AriaCache, blocks: UnusedAriaBlocks, reads: AriaReads, memory: MemoryCeiling, p: Parameters
) -> Finding | Passed:
    figures = cache.measured() + blocks.measured() + reads.measured()
    size = cache.aria_pagecache_buffer_size
    full = blocks.aria_pagecache_blocks_unused * cache.aria_block_size <= p.unused_ratio * size
    missed = reads.aria_pagecache_reads > p.missed_ratio * reads.aria_pagecache_read_requests
    if reads.aria_pagecache_reads < p.reads_per_second or not missed or not full:
        return Passed(figures)
    highest = memory.share(p.memory_ratio, otherwise=int(p.largest_bytes)) // MIB * MIB
    wanted = min(max(2 * size, 128 * MIB), highest)
    proposal: tuple[Change, ...] = (SetVariable("aria_pagecache_buffer_size", wanted),)
    price: tuple[Price, ...] = (
        Price(
            PriceKind.MEMORY,
            Message("a larger page cache, from the next restart on"),
            Quantity(size, Unit.BYTES),
            Quantity(wanted, Unit.BYTES),
        ),
    )
    if wanted <= size:
        proposal, price = (Investigate("Find the statements that read so many Aria pages: the cache is large."),), ()
    return Finding(
        (
            Item(
                message=Message(
                    "The Aria page cache of {size} reads {reads} pages a second from files",
                    {
                        "size": Quantity(size, Unit.BYTES),
                        "reads": Quantity(reads.aria_pagecache_reads, Unit.COUNT),
                    },
                ),
                evidence=figures,
                proposal=proposal,
                expected=Message("Aria and temporary tables read fewer pages from files.") if price else None,
                price=price,
                would_change_our_mind=Message("One large statement or a backup in the window."),
            ),
        )
    )


rule.fires(
    "A cache of 16 MiB",
    scene(
        "mariadb 10.11.18",
        {"aria_pagecache_buffer_size": 16 * MIB, "aria_block_size": 8192},
        gauges={"Aria_pagecache_blocks_unused": 20},
        counters={"Aria_pagecache_reads": 300, "Aria_pagecache_read_requests": 2000},
        deliberate=True,
    ),
    proposes={"aria_pagecache_buffer_size": 128 * MIB},
)
rule.fires(
    "A large one: the statements are the matter",
    scene(
        "mariadb 11.8.6",
        {"aria_pagecache_buffer_size": GIB, "aria_block_size": 8192},
        gauges={"Aria_pagecache_blocks_unused": 20},
        counters={"Aria_pagecache_reads": 300, "Aria_pagecache_read_requests": 2000},
        deliberate=True,
    ),
)
rule.passes(
    "Hardly a page comes from a file",
    scene(
        "mariadb 10.11.18",
        {"aria_pagecache_buffer_size": 16 * MIB, "aria_block_size": 8192},
        gauges={"Aria_pagecache_blocks_unused": 20},
        counters={"Aria_pagecache_reads": 3, "Aria_pagecache_read_requests": 2000},
        deliberate=True,
    ),
)
rule.passes(
    "A cache that is still filling",
    scene(
        "mariadb 11.8.6",
        {"aria_pagecache_buffer_size": 128 * MIB, "aria_block_size": 8192},
        gauges={"Aria_pagecache_blocks_unused": 12_000},
        counters={"Aria_pagecache_reads": 300, "Aria_pagecache_read_requests": 2000},
        deliberate=True,
    ),
)
