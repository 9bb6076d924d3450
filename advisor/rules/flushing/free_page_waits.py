"""Threads wait for a free page although little is read.

Why it matters
    Whoever makes or reads a page needs a free one. The page cleaner keeps innodb_lru_scan_depth of them ready in each
    instance of the buffer pool; where that is used up within its second, the thread writes out a page itself and
    waits for the disk. Bulk loads meet it first: they make pages faster than the cleaner frees them.

How it is computed
    Innodb_buffer_pool_wait_free rose in at least 5 % of the intervals between polls, in two at least, while fewer than
    50 pages a second were read from disk in half of them (with more it is the size of the pool, which another rule
    judges). The depth is raised to one and a half, by whole 128 pages, as long as all instances together keep no more
    than an eighth of the pool free. Where it is that deep already a person has to look.

When to dismiss it
    The load that was seen runs once, and nobody minds that it takes longer.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.facts.flushing import (
    FreePageWaits,
)
from advisor.engine.outcome import (
    Finding,
    Item,
    Message,
    Passed,
    Price,
    PriceKind,
    Severity,
)
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import GIB, Quantity, Unit, round_up
from advisor.mysql.proposal import Change, Investigate, SetVariable


@dataclass(frozen=True)
class Parameters(Thresholds):
    """When threads wait too often, and how deep is deep enough."""

    waiting_ratio: float = threshold(
        0.05, unit=Unit.RATIO, meaning="share of intervals with waits for a free page", leave_at=0.02
    )
    waiting_intervals: float = threshold(2, unit=Unit.COUNT, meaning="how many such intervals there are at least")
    reads_per_second: float = threshold(
        50, unit=Unit.PAGES_PER_SECOND, meaning="pages read from which the pool's size is the matter", leave_at=60
    )
    growth_ratio: float = threshold(1.5, unit=Unit.RATIO, meaning="the proposed depth as a multiple of the present one")
    free_ratio: float = threshold(
        0.125, unit=Unit.RATIO, meaning="pages kept free as a share of the pool, at most, as it is proposed"
    )


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    caused_by=[FreePageWaits],
    raises=["innodb_lru_scan_depth"],
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-buffer-pool-flushing.html",
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-parameters.html",
        "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-system-variables",
    ],
)


@rule.check
def check(waits: FreePageWaits, p: Parameters) -> Finding | Passed:
    figures = waits.measured()
    if (
        waits.waiting_intervals < p.waiting_intervals
        or waits.waiting_ratio < p.waiting_ratio
        or waits.median_reads >= p.reads_per_second
    ):
        return Passed(figures)
    deepest = int(p.free_ratio * waits.pages / waits.instances) // 128 * 128
    wanted = min(round_up(p.growth_ratio * waits.depth, 128), deepest)
    proposal: tuple[Change, ...] = (SetVariable("innodb_lru_scan_depth", wanted),)
    if wanted <= waits.depth:
        proposal = (
            Investigate(
                "The page cleaner keeps an eighth of the buffer pool free, and that is used up within a second: load "
                "in smaller pieces, give the buffer pool more memory, or look at the latency of writes."
            ),
        )
    return Finding(
        (
            Item(
                message=Message(
                    "Threads waited for a free page in {share} of the intervals",
                    {"share": Quantity(waits.waiting_ratio, Unit.RATIO)},
                ),
                evidence=figures,
                proposal=proposal,
                expected=Message("Free pages are there when they are needed.") if wanted > waits.depth else None,
                price=(Price(PriceKind.MEMORY, Message("that many more pages of the pool cache nothing")),)
                if wanted > waits.depth
                else (),
                would_change_our_mind=Message("Waits that occur in one load only."),
            ),
        )
    )


_READS = {"Innodb_buffer_pool_wait_free": 12, "Innodb_pages_read": 3}
rule.fires(
    "A bulk load into MySQL 8.0 with 1 GiB",
    scene("mysql 8.0.33", {"innodb_buffer_pool_size": GIB}, counters=_READS),
    proposes={"innodb_lru_scan_depth": 1536},
)
rule.fires(
    "The same into MariaDB 10.11",
    scene("mariadb 10.11.18", {"innodb_buffer_pool_size": GIB}, counters=_READS),
    proposes={"innodb_lru_scan_depth": 2304},
)
rule.fires(
    "A pool of 128 MiB keeps an eighth free already",
    scene("mysql 5.7.22", counters=_READS),
)
rule.passes(
    "Waits while much is read: the size of the pool is the matter",
    scene(
        "mysql 8.0.33",
        {"innodb_buffer_pool_size": GIB},
        counters={"Innodb_buffer_pool_wait_free": 12, "Innodb_pages_read": 900},
    ),
)
rule.passes(
    "No waits",
    scene(
        "mysql 8.0.33",
        {"innodb_buffer_pool_size": GIB},
        counters={"Innodb_buffer_pool_wait_free": 0, "Innodb_pages_read": 3},
    ),
)
rule.passes(
    "No waits on MariaDB",
    scene("mariadb 10.11.18", counters={"Innodb_buffer_pool_wait_free": 0, "Innodb_pages_read": 3}),
)
