"""Threads are created for new connections all the time.

Why it matters
    Where applications connect for each request, every connection needs a thread. One that was used before costs
    nothing; one that has to be created costs some tens of microseconds, memory for its stack, and a global lock on
    older versions.

How it is computed
    Threads_created rose by at least five a second between full snapshots, and by more than a tenth of the
    connections. The proposal is twice the present cache, at least what there was connected at once, up to 512. With
    a thread pool the cache is not used and nothing is said.

When to dismiss it
    Applications are about to keep their connections in a pool, which is worth more than any cache.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import HarmRates, Settings
from advisor.engine.facts.connections import MostConnections
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import Change, Investigate, SetVariable


@dataclass(frozen=True)
class ThreadCache(Settings):
    """Threads that are kept for the next connection, and how connections get their threads."""

    thread_cache_size: int
    max_connections: int
    thread_handling: str = "one-thread-per-connection"


@dataclass(frozen=True)
class ThreadRates(HarmRates):
    """Threads created, and connections made, per second."""

    threads_created: float
    connections: float


@dataclass(frozen=True)
class Parameters(Thresholds):
    """When a cache is too small."""

    created_per_second: float = threshold(5, unit=Unit.PER_SECOND, meaning="threads created", leave_at=4)
    created_ratio: float = threshold(
        0.1, unit=Unit.RATIO, meaning="threads created as a share of the connections made", leave_at=0.08
    )
    largest: float = threshold(512, unit=Unit.COUNT, meaning="no larger cache is proposed")


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    caused_by=[ThreadRates],
    raises=["thread_cache_size"],
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/connection-interfaces.html",
        "https://mariadb.com/docs/server/server-management/variables-and-modes/server-system-variables",
    ],
)


@rule.check
def check(cache: ThreadCache, threads: MostConnections, rates: ThreadRates, p: Parameters) -> Finding | Passed:
    figures = cache.measured() + threads.measured() + rates.measured()
    few = rates.threads_created < p.created_per_second or rates.threads_created <= p.created_ratio * rates.connections
    if few or "pool" in cache.thread_handling or "loaded" in cache.thread_handling:
        return Passed(figures)
    present = cache.thread_cache_size
    usual = 8 + cache.max_connections // 100
    wanted = min(int(p.largest), max(2 * present, usual, threads.max_used_connections))
    proposal: tuple[Change, ...] = (SetVariable("thread_cache_size", wanted),)
    price: tuple[Price, ...] = (
        Price(
            PriceKind.MEMORY,
            Message("stacks of threads that wait"),
            Quantity(present, Unit.COUNT),
            Quantity(wanted, Unit.COUNT),
        ),
    )
    if wanted <= present:
        proposal, price = (Investigate("Let applications keep their connections in a pool: the cache is large."),), ()
    return Finding(
        (
            Item(
                message=Message(
                    "{created} threads a second are created for {connections} new connections",
                    {
                        "created": Quantity(rates.threads_created, Unit.COUNT),
                        "connections": Quantity(rates.connections, Unit.COUNT),
                    },
                ),
                evidence=figures,
                proposal=proposal,
                expected=Message("New connections find a thread that waits for them.") if price else None,
                price=price,
                would_change_our_mind=Message("Applications that will soon keep their connections."),
            ),
        )
    )


_MANY = {"Threads_created": 30, "Connections": 40}
rule.fires(
    "A web application that connects for each page",
    scene(
        "mysql 8.0.33",
        {"thread_cache_size": 9, "max_connections": 151},
        status={"Max_used_connections": 60},
        counters=_MANY,
        deliberate=True,
    ),
    proposes={"thread_cache_size": 60},
)
rule.fires(
    "MariaDB with the cache switched off",
    scene(
        "mariadb 10.11.18",
        {"thread_cache_size": 0, "max_connections": 500},
        status={"Max_used_connections": 6},
        counters=_MANY,
        deliberate=True,
    ),
    proposes={"thread_cache_size": 13},
)
rule.passes(
    "Most connections find a thread",
    scene(
        "mysql 8.0.33",
        {"thread_cache_size": 9},
        status={"Max_used_connections": 60},
        counters={"Threads_created": 1, "Connections": 40},
        deliberate=True,
    ),
)
rule.passes(
    "A thread pool needs no cache",
    scene(
        "mariadb 10.11.18",
        {"thread_cache_size": 0, "thread_handling": "pool-of-threads"},
        status={"Max_used_connections": 60},
        counters=_MANY,
        deliberate=True,
    ),
)
