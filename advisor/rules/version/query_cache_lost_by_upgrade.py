"""The next version has no query cache, and this server answers from it.

Why it matters
    MySQL 8.0 removed the query cache. A site that reads the same few results again and again may live from it without
    knowing; after the upgrade each of those reads is executed.

How it is computed
    query_cache_type is not OFF, the cache has a size, and between full snapshots at least a tenth of all SELECT
    statements were answered from it, at least one in ten seconds. The upgrade's next step is MySQL 8.0.

When to dismiss it
    The application caches these results itself by then, or the executed reads were measured and are cheap.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Rates, Settings
from advisor.engine.outcome import Finding, Item, Measured, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import MIB, Quantity, Unit
from advisor.mysql.proposal import UpgradeAdvice


@dataclass(frozen=True)
class QueryCache(Settings):
    """The query cache's type and size in bytes."""

    query_cache_type: str
    query_cache_size: int


@dataclass(frozen=True)
class CacheUse(Rates):
    """Answers from the cache and executed SELECT statements, per second."""

    qcache_hits: float
    com_select: float


@dataclass(frozen=True)
class Parameters(Thresholds):
    """From when on the cache is lived from."""

    hit_ratio: float = threshold(
        0.1, unit=Unit.RATIO, meaning="share of SELECT statements answered from the cache", leave_at=0.08
    )
    hits_per_second: float = threshold(0.1, unit=Unit.PER_SECOND, meaning="answers from the cache", leave_at=0.07)


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7,<8.0"],
    since="0.2",
    parameters=Parameters(),
    references=["https://dev.mysql.com/doc/refman/8.0/en/mysql-nutshell.html"],
)


@rule.check
def check(cache: QueryCache, use: CacheUse, p: Parameters) -> Finding | Passed:
    # A statement that is answered from the cache does not count as executed.
    ratio = use.qcache_hits / max(use.qcache_hits + use.com_select, 1e-9)
    figures = (
        *cache.measured(),
        *use.measured(),
        Measured("share answered from the cache", ratio, Unit.RATIO, use.window, "Qcache_hits"),
    )
    used = cache.query_cache_type != "OFF" and cache.query_cache_size > 0
    if not used or ratio < p.hit_ratio or use.qcache_hits < p.hits_per_second:
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message(
                    "{share} of all SELECT statements are answered by a query cache that MySQL 8.0 does not have",
                    {"share": Quantity(ratio, Unit.RATIO)},
                ),
                evidence=figures,
                proposal=(
                    UpgradeAdvice(
                        "8.0", "try the workload without the query cache first (query_cache_type = OFF at run time)"
                    ),
                ),
                price=(Price(PriceKind.READ_LATENCY, Message("each of these reads is executed after the upgrade")),),
                would_change_our_mind=Message("A trial without the cache that shows no difference."),
            ),
        )
    )


_ON = {"query_cache_type": "ON", "query_cache_size": 64 * MIB}
rule.fires(
    "Half of the reads come from the cache",
    scene("mysql 5.7.22", _ON, counters={"Qcache_hits": 200, "Com_select": 200}, deliberate=True),
)
rule.passes(
    "A cache that is hardly hit",
    scene("mysql 5.7.22", _ON, counters={"Qcache_hits": 2, "Com_select": 400}, deliberate=True),
)
rule.passes(
    "The default: off",
    scene("mysql 5.7.22", counters={"Qcache_hits": 0, "Com_select": 400}, deliberate=True),
)
