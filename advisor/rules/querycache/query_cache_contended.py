"""The query cache answers little, and every statement stands in line for it.

Why it matters
    The query cache has one lock for all sessions. Every SELECT takes it to look, every INSERT, UPDATE and DELETE to
    throw out what it made wrong; with eight busy sessions they wait for each other more than for data. MySQL 8.0
    removed it for that reason, and MariaDB has it off by default since 10.1.7.

How it is computed
    query_cache_type is not OFF and there is a size, at least 10 statements a second asked it, and it answered fewer
    than 20 % of them (Qcache_hits against hits + inserts + not cached, between full snapshots), or 8 sessions or more
    were running at once.

When to dismiss it
    A small site that hardly writes, where it answers most statements and few run at once: then this does not fire.
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
class Running(Status):
    """Sessions that were executing a statement when the newest snapshot was taken."""

    threads_running: int


@dataclass(frozen=True)
class Parameters(Thresholds):
    """When the cache does more harm than good."""

    asked_per_second: float = threshold(
        10.0, unit=Unit.PER_SECOND, meaning="statements that ask the cache, fewer do no harm", leave_at=8.0
    )
    hit_ratio: float = threshold(0.2, unit=Unit.RATIO, meaning="answered statements, fewer are too few", leave_at=0.25)
    running: float = threshold(8, unit=Unit.COUNT, meaning="sessions that stand in line for it", leave_at=6)


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7,<8.0", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    caused_by=[QueryCacheRates],
    references=[
        "https://dev.mysql.com/doc/refman/5.7/en/query-cache.html",
        "https://mariadb.com/docs/server/ha-and-performance/optimization-and-tuning/buffers-caches-and-threads/query-cache",
    ],
)


@rule.check
def check(cache: QueryCache, rates: QueryCacheRates, sessions: Running, p: Parameters) -> Finding | Passed:
    figures = cache.measured() + rates.measured() + sessions.measured()
    if not cache.is_on or rates.asked < p.asked_per_second:
        return Passed(figures)
    if rates.hit_ratio >= p.hit_ratio and sessions.threads_running < p.running:
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message(
                    "The query cache answers {share} of {asked} statements a second, and all wait for its lock",
                    {
                        "share": Quantity(rates.hit_ratio, Unit.RATIO),
                        "asked": Quantity(rates.asked, Unit.COUNT),
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


_BUSY = {"Qcache_hits": 20, "Qcache_inserts": 300, "Qcache_not_cached": 80, "Qcache_lowmem_prunes": 0}
rule.fires(
    "One in twenty answered",
    scene(
        "mariadb 10.11.18",
        {"query_cache_type": "ON", "query_cache_size": 64 * MIB},
        counters=_BUSY,
        status={"Threads_running": 3},
        deliberate=True,
    ),
    proposes={"query_cache_type": "OFF", "query_cache_size": 0},
)
rule.fires(
    "Most answered, but twenty sessions stand in line",
    scene(
        "mysql 5.7.22",
        {"query_cache_type": "ON", "query_cache_size": 64 * MIB},
        counters={"Qcache_hits": 900, "Qcache_inserts": 100, "Qcache_not_cached": 0, "Qcache_lowmem_prunes": 0},
        status={"Threads_running": 20},
        deliberate=True,
    ),
    proposes={"query_cache_type": "OFF", "query_cache_size": 0},
)
rule.passes(
    "A small site that hardly writes",
    scene(
        "mariadb 10.11.18",
        {"query_cache_type": "ON", "query_cache_size": 64 * MIB},
        counters={"Qcache_hits": 90, "Qcache_inserts": 10, "Qcache_not_cached": 0, "Qcache_lowmem_prunes": 0},
        status={"Threads_running": 2},
        deliberate=True,
    ),
)
rule.passes(
    "Off, as every default is",
    scene("mysql 5.7.22", counters=_BUSY, status={"Threads_running": 20}, deliberate=True),
)
rule.passes(
    "On, and hardly asked",
    scene(
        "mysql 5.7.22",
        {"query_cache_type": "ON", "query_cache_size": 64 * MIB},
        counters={name: rate / 100 for name, rate in _BUSY.items()},
        status={"Threads_running": 1},
        deliberate=True,
    ),
)
