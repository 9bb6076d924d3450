"""The query cache is off, and its memory is allocated all the same.

Why it matters
    query_cache_size is allocated when the server starts, whatever query_cache_type says. 256 MiB of a cache that nobody
    may ask are 256 MiB less for the buffer pool.

How it is computed
    From settings alone: query_cache_type is OFF and query_cache_size is above 1 MiB, the default, which is not worth
    a word.

When to dismiss it
    A session switches the cache on for itself, as it may where the server did not start with it off.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.facts.querycache import QueryCache
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import MIB, Quantity, Unit
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class Parameters(Thresholds):
    """What is not worth a word."""

    usual_bytes: float = threshold(MIB, unit=Unit.BYTES, meaning="query_cache_size by default")


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7,<8.0", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/5.7/en/query-cache-configuration.html",
        "https://mariadb.com/docs/server/ha-and-performance/optimization-and-tuning/buffers-caches-and-threads/query-cache",
    ],
)


@rule.check
def check(cache: QueryCache, p: Parameters) -> Finding | Passed:
    if cache.is_on or cache.query_cache_size <= p.usual_bytes:
        return Passed(cache.measured())
    return Finding(
        (
            Item(
                message=Message(
                    "{size} are allocated for a query cache that is off",
                    {"size": Quantity(cache.query_cache_size, Unit.BYTES)},
                ),
                evidence=cache.measured(),
                proposal=(SetVariable("query_cache_size", 0),),
                expected=Message("The memory is there for something that is used."),
                price=(Price(PriceKind.READ_LATENCY, Message("nothing: no statement asks the cache")),),
                would_change_our_mind=Message("A session that switches the cache on for itself."),
            ),
        )
    )


rule.fires(
    "Left over from when it was on",
    scene("mariadb 10.11.18", {"query_cache_type": "OFF", "query_cache_size": 256 * MIB}),
    proposes={"query_cache_size": 0},
)
rule.fires(
    "The same on MySQL 5.7",
    scene("mysql 5.7.22", {"query_cache_type": "OFF", "query_cache_size": 64 * MIB}),
    proposes={"query_cache_size": 0},
)
rule.passes("The default", scene("mariadb 10.11.18"))
rule.passes("On", scene("mysql 5.7.22", {"query_cache_type": "ON", "query_cache_size": 64 * MIB}))
