"""The query cache's free memory is in pieces too small for results.

Why it matters
    Results are stored in blocks of one memory area. After many were thrown out, what is free lies scattered: results
    are refused or throw out others although there is room. FLUSH QUERY CACHE moves everything together and holds the
    lock that every statement wants while it does; a week later it is the same again.

How it is computed
    The cache is on, there are more than 20 % as many free blocks as results (a result takes two blocks, one for its
    statement: Qcache_free_blocks against half of Qcache_total_blocks, with 100 blocks or more), and results were thrown
    out for want of memory meanwhile (0.1 a second or more).

When to dismiss it
    It still answers most statements, few sessions run at once, and nobody waits.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Status
from advisor.engine.facts.querycache import FEWER_WAITS, SWITCHED_OFF, QueryCache, QueryCacheRates
from advisor.engine.outcome import Finding, Item, Message, Passed, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import MIB, Quantity, Unit


@dataclass(frozen=True)
class Blocks(Status):
    """The blocks of the cache, and those of them that are free."""

    qcache_free_blocks: int
    qcache_total_blocks: int


@dataclass(frozen=True)
class Parameters(Thresholds):
    """When it is in pieces."""

    free_blocks_ratio: float = threshold(
        0.2, unit=Unit.RATIO, meaning="free blocks for each stored result", leave_at=0.15
    )
    fewest_blocks: float = threshold(100, unit=Unit.COUNT, meaning="with fewer blocks nothing can be said")
    prunes_per_second: float = threshold(
        0.1, unit=Unit.PER_SECOND, meaning="results thrown out for want of memory", leave_at=0.08
    )


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7,<8.0", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    caused_by=[QueryCacheRates],
    references=[
        "https://dev.mysql.com/doc/refman/5.7/en/query-cache-status-and-maintenance.html",
        "https://mariadb.com/docs/server/ha-and-performance/optimization-and-tuning/buffers-caches-and-threads/query-cache",
    ],
)


@rule.check
def check(cache: QueryCache, blocks: Blocks, rates: QueryCacheRates, p: Parameters) -> Finding | Passed:
    figures = cache.measured() + blocks.measured() + rates.measured()
    in_pieces = blocks.qcache_total_blocks >= p.fewest_blocks and (
        blocks.qcache_free_blocks > p.free_blocks_ratio * blocks.qcache_total_blocks / 2
    )
    if not cache.is_on or not in_pieces or rates.qcache_lowmem_prunes < p.prunes_per_second:
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message(
                    "{free} of the query cache's {all} blocks are free, and results are thrown out for want of memory",
                    {
                        "free": Quantity(blocks.qcache_free_blocks, Unit.COUNT),
                        "all": Quantity(blocks.qcache_total_blocks, Unit.COUNT),
                    },
                ),
                evidence=figures,
                proposal=SWITCHED_OFF,
                expected=FEWER_WAITS,
                price=rates.price(),
                would_change_our_mind=Message("Most statements answered by it, with few sessions running at once."),
            ),
        )
    )


_ON = {"query_cache_type": "ON", "query_cache_size": 16 * MIB}
_PRUNED = {"Qcache_hits": 300, "Qcache_inserts": 90, "Qcache_not_cached": 5, "Qcache_lowmem_prunes": 3}
_CALM = {**_PRUNED, "Qcache_lowmem_prunes": 0}
rule.fires(
    "A third of its blocks is free",
    scene(
        "mariadb 10.11.18",
        _ON,
        counters=_PRUNED,
        status={"Qcache_free_blocks": 900, "Qcache_total_blocks": 2700},
        deliberate=True,
    ),
    proposes={"query_cache_type": "OFF", "query_cache_size": 0},
)
rule.fires(
    "The same on MySQL 5.7",
    scene(
        "mysql 5.7.22",
        _ON,
        counters=_PRUNED,
        status={"Qcache_free_blocks": 900, "Qcache_total_blocks": 2700},
        deliberate=True,
    ),
    proposes={"query_cache_type": "OFF", "query_cache_size": 0},
)
rule.passes(
    "In pieces, but nothing is thrown out",
    scene(
        "mariadb 10.11.18",
        _ON,
        counters=_CALM,
        status={"Qcache_free_blocks": 900, "Qcache_total_blocks": 2700},
        deliberate=True,
    ),
)
rule.passes(
    "In one piece",
    scene(
        "mysql 5.7.22",
        _ON,
        counters=_PRUNED,
        status={"Qcache_free_blocks": 9, "Qcache_total_blocks": 2700},
        deliberate=True,
    ),
)
