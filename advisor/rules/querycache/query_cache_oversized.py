"""The query cache is too large to throw things out of.

Why it matters
    A write throws out every result that read its table, and holds the one lock of the cache meanwhile. With hundreds of
    megabytes of results that takes long enough for all other statements to be seen waiting ("Waiting for query cache
    lock"), now and then for seconds. MySQL's manual warns of sizes beyond some tens of megabytes.

How it is computed
    From settings alone: the cache is on and query_cache_size is above 128 MiB.

When to dismiss it
    The tables behind it are never written to.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.facts.querycache import FEWER_WAITS, SWITCHED_OFF, QueryCache
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import MIB, Quantity, Unit


@dataclass(frozen=True)
class Parameters(Thresholds):
    """What is too large."""

    largest_bytes: float = threshold(128 * MIB, unit=Unit.BYTES, meaning="memory of the query cache")


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7,<8.0", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/5.7/en/query-cache.html",
        "https://mariadb.com/docs/server/ha-and-performance/optimization-and-tuning/buffers-caches-and-threads/query-cache",
    ],
)


@rule.check
def check(cache: QueryCache, p: Parameters) -> Finding | Passed:
    if not cache.is_on or cache.query_cache_size <= p.largest_bytes:
        return Passed(cache.measured())
    return Finding(
        (
            Item(
                message=Message(
                    "A query cache of {size} holds its lock for long when a table is written",
                    {"size": Quantity(cache.query_cache_size, Unit.BYTES)},
                ),
                evidence=cache.measured(),
                proposal=SWITCHED_OFF,
                expected=FEWER_WAITS,
                price=(
                    Price(PriceKind.READ_LATENCY, Message("statements that were answered by the cache are executed")),
                ),
                would_change_our_mind=Message("Tables that are never written to."),
            ),
        )
    )


rule.fires(
    "A gigabyte",
    scene("mariadb 10.11.18", {"query_cache_type": "ON", "query_cache_size": 1024 * MIB}),
    proposes={"query_cache_type": "OFF", "query_cache_size": 0},
)
rule.fires(
    "The same on MySQL 5.7",
    scene("mysql 5.7.22", {"query_cache_type": "ON", "query_cache_size": 256 * MIB}),
    proposes={"query_cache_type": "OFF", "query_cache_size": 0},
)
rule.passes("Of a usual size", scene("mysql 5.7.22", {"query_cache_type": "ON", "query_cache_size": 32 * MIB}))
rule.passes("Off", scene("mariadb 10.11.18", {"query_cache_type": "OFF", "query_cache_size": 1024 * MIB}))
