"""A large page cache for Aria tables is hardly used.

Why it matters
    MariaDB keeps index and data pages of Aria tables, its own temporary tables among them, in a page cache of their
    own. Beyond what is ever used, that memory is missing for the buffer pool.

How it is computed
    After a day of uptime: aria_pagecache_buffer_size is 256 MiB or more, and no more than a tenth of it was ever
    used at once (the high-water mark Aria_pagecache_blocks_used). Pages asked for stand among the figures and
    decide nothing: small temporary tables ask for the same few pages again and again. The proposal is four times
    what was used, at least the default of 128 MiB.

When to dismiss it
    A nightly load of Aria tables is still to come.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from advisor.engine.declared import Rates, Status
from advisor.engine.facts.memory import AriaCache
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity, unused
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import DAY, GIB, MIB, Quantity, Unit, round_up
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class AriaBlocks(Status):
    """How many pages of the cache were ever in use at once."""

    aria_pagecache_blocks_used: int


@dataclass(frozen=True)
class AriaRequests(Rates):
    """Pages that were asked for, per second, on a server that is up for a day."""

    uptime_seconds: ClassVar[int] = DAY

    aria_pagecache_read_requests: float


@dataclass(frozen=True)
class Parameters(Thresholds):
    """When a page cache is too big."""

    smallest_bytes: float = threshold(256 * MIB, unit=Unit.BYTES, meaning="page cache from which on it is looked at")
    used_ratio: float = threshold(
        0.1, unit=Unit.RATIO, meaning="share of it that was ever used, up to which it is too big", leave_at=0.12
    )


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://mariadb.com/docs/server/server-usage/storage-engines/aria/aria-system-variables",
    ],
)


@rule.check
def check(cache: AriaCache, blocks: AriaBlocks, requests: AriaRequests, p: Parameters) -> Finding | Passed:
    figures = cache.measured() + unused(blocks.measured() + requests.measured())
    size = cache.aria_pagecache_buffer_size
    used = blocks.aria_pagecache_blocks_used * cache.aria_block_size
    if size < p.smallest_bytes or used > p.used_ratio * size:
        return Passed(figures)
    wanted = max(round_up(4 * used, MIB), 128 * MIB)
    return Finding(
        (
            Item(
                message=Message(
                    "The Aria page cache of {size} never held more than {used}",
                    {"size": Quantity(size, Unit.BYTES), "used": Quantity(used, Unit.BYTES)},
                ),
                evidence=figures,
                proposal=(SetVariable("aria_pagecache_buffer_size", wanted),),
                expected=Message("{less} of memory for others", {"less": Quantity(size - wanted, Unit.BYTES)}),
                price=(
                    Price(
                        PriceKind.RESTART,
                        Message("the cache is sized at the start"),
                        Quantity(size, Unit.BYTES),
                        Quantity(wanted, Unit.BYTES),
                    ),
                ),
                would_change_our_mind=Message("Aria tables that are used at other times."),
            ),
        )
    )


rule.fires(
    "2 GiB for temporary tables that never were large",
    scene(
        "mariadb 10.11.18",
        {"aria_pagecache_buffer_size": 2 * GIB, "aria_block_size": 8192},
        gauges={"Aria_pagecache_blocks_used": 900},
        counters={"Aria_pagecache_read_requests": 1},
        deliberate=True,
    ),
    proposes={"aria_pagecache_buffer_size": 128 * MIB},
)
rule.passes(
    "The default",
    scene(
        "mariadb 10.11.18",
        {"aria_pagecache_buffer_size": 128 * MIB, "aria_block_size": 8192},
        gauges={"Aria_pagecache_blocks_used": 20},
        counters={"Aria_pagecache_read_requests": 1},
        deliberate=True,
    ),
)
rule.passes(
    "Aria tables are read all the time",
    scene(
        "mariadb 11.8.6",
        {"aria_pagecache_buffer_size": 2 * GIB, "aria_block_size": 8192},
        gauges={"Aria_pagecache_blocks_used": 150_000},
        counters={"Aria_pagecache_read_requests": 5000},
        deliberate=True,
    ),
)
