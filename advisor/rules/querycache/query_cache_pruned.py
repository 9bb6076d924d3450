"""The query cache throws out results before anybody asks for them again.

Why it matters
    A result that is thrown out for want of memory was stored for nothing, and throwing out holds the lock that every
    statement wants. The usual advice is a larger cache; with more results in it, each write has more to throw out, and
    the lock is held for longer. What gets better is the counter, not the server.

How it is computed
    The cache is on, and Qcache_lowmem_prunes grew by 1 a second or more between full snapshots. The cache is switched
    off and its memory given back, as in every rule about it.

When to dismiss it
    It still answers most statements, few sessions run at once, and nobody waits.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.facts.querycache import FEWER_WAITS, SWITCHED_OFF, QueryCache, QueryCacheRates
from advisor.engine.outcome import Finding, Item, Message, Passed, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import MIB, Quantity, Unit


@dataclass(frozen=True)
class Parameters(Thresholds):
    """When it throws out too much."""

    prunes_per_second: float = threshold(
        1.0, unit=Unit.PER_SECOND, meaning="results thrown out for want of memory", leave_at=0.8
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
def check(cache: QueryCache, rates: QueryCacheRates, p: Parameters) -> Finding | Passed:
    figures = cache.measured() + rates.measured()
    if not cache.is_on or rates.qcache_lowmem_prunes < p.prunes_per_second:
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message(
                    "The query cache throws out {rate} results a second for want of memory",
                    {"rate": Quantity(rates.qcache_lowmem_prunes, Unit.COUNT)},
                ),
                evidence=figures,
                proposal=SWITCHED_OFF,
                expected=FEWER_WAITS,
                price=rates.price(),
                would_change_our_mind=Message("Most statements answered by it, with few sessions running at once."),
            ),
        )
    )


rule.fires(
    "A full cache",
    scene(
        "mariadb 10.11.18",
        {"query_cache_type": "ON", "query_cache_size": 16 * MIB},
        counters={"Qcache_hits": 300, "Qcache_inserts": 90, "Qcache_not_cached": 5, "Qcache_lowmem_prunes": 60},
        deliberate=True,
    ),
    proposes={"query_cache_type": "OFF", "query_cache_size": 0},
)
rule.fires(
    "The same on MySQL 5.7",
    scene(
        "mysql 5.7.22",
        {"query_cache_type": "DEMAND", "query_cache_size": 16 * MIB},
        counters={"Qcache_hits": 300, "Qcache_inserts": 90, "Qcache_not_cached": 5, "Qcache_lowmem_prunes": 2},
        deliberate=True,
    ),
    proposes={"query_cache_type": "OFF", "query_cache_size": 0},
)
rule.passes(
    "Room enough",
    scene(
        "mariadb 10.11.18",
        {"query_cache_type": "ON", "query_cache_size": 16 * MIB},
        counters={"Qcache_hits": 300, "Qcache_inserts": 90, "Qcache_not_cached": 5, "Qcache_lowmem_prunes": 0},
        deliberate=True,
    ),
)
rule.passes(
    "Off",
    scene(
        "mysql 5.7.22",
        counters={"Qcache_hits": 0, "Qcache_inserts": 0, "Qcache_not_cached": 0, "Qcache_lowmem_prunes": 0},
        deliberate=True,
    ),
)
