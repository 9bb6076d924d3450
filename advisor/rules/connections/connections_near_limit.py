"""Almost as many connections as are admitted.

Why it matters
    The next client is refused with "Too many connections" as soon as max_connections are there: an outage for
    everybody who connects, and often for the person who comes to look. It mostly happens when something else is
    slow and sessions pile up.

How it is computed
    The most connections there ever were at once (Max_used_connections) reach 85 % of max_connections; it is
    critical while 85 % are connected right now. The proposal is a third more than the most there ever were, as far
    as open files and, where it is stated, the host's memory have room for it: the same arithmetic as in all rules
    about max_connections.

When to dismiss it
    It happened once, and its reason is known and gone: FLUSH STATUS begins the high-water mark anew.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.facts.connections import ConnectionLimit
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene, stated
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import GIB, Quantity, Unit
from advisor.mysql.proposal import Change, Investigate, SetVariable


@dataclass(frozen=True)
class Parameters(Thresholds):
    """How near is too near."""

    used_ratio: float = threshold(
        0.85, unit=Unit.RATIO, meaning="most connections at once as a share of max_connections", leave_at=0.8
    )
    connected_ratio: float = threshold(
        0.85, unit=Unit.RATIO, meaning="connections now as a share of it, from where on it is critical", leave_at=0.75
    )


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    raises=["max_connections"],
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/too-many-connections.html",
        "https://mariadb.com/docs/server/ha-and-performance/optimization-and-tuning/system-variables/handling-too-many-connections",
    ],
)


@rule.check
def check(limit: ConnectionLimit, p: Parameters) -> Finding | Passed:
    if limit.used_ratio < p.used_ratio:
        return Passed(limit.measured())
    wanted = limit.raised
    proposal: tuple[Change, ...] = (SetVariable("max_connections", wanted),)
    price: tuple[Price, ...] = (
        Price(
            PriceKind.MEMORY,
            Message("about 2 MiB for each connection that is used"),
            Quantity(limit.maximum, Unit.COUNT),
            Quantity(wanted, Unit.COUNT),
        ),
    )
    if wanted <= limit.maximum or limit.used >= p.used_ratio * wanted:
        proposal, price = (
            (
                Investigate(
                    "There is no room for more connections (files or memory): find the sessions that sleep, let "
                    "applications share them in a pool, or raise open_files_limit first."
                ),
            ),
            (),
        )

    return Finding(
        (
            Item(
                message=Message(
                    "There were {used} of {limit} connections at once",
                    {"used": Quantity(limit.used, Unit.COUNT), "limit": Quantity(limit.maximum, Unit.COUNT)},
                ),
                evidence=limit.measured(),
                proposal=proposal,
                severity=Severity.CRITICAL if limit.connected_ratio >= p.connected_ratio else None,
                expected=Message("Clients find a place when there are as many again.") if price else None,
                price=price,
                would_change_our_mind=Message("Sessions that piled up behind a fault that is gone."),
            ),
        )
    )


rule.fires(
    "140 of 151, most of them right now: critical",
    scene(
        "mysql 8.0.33",
        {"max_connections": 151, "open_files_limit": 20_000, "table_open_cache": 4000},
        status={"Max_used_connections": 140, "Threads_connected": 135},
    ),
    proposes={"max_connections": 190},
)
rule.fires(
    "MariaDB, some time ago",
    scene(
        "mariadb 10.11.18",
        {"max_connections": 500, "open_files_limit": 20_000, "table_open_cache": 2000},
        status={"Max_used_connections": 501, "Threads_connected": 80},
    ),
    proposes={"max_connections": 660},
)
rule.fires(
    "As many as files allow",
    scene(
        "mysql 5.7.22",
        {"max_connections": 800, "open_files_limit": 5030, "table_open_cache": 2000},
        status={"Max_used_connections": 790, "Threads_connected": 80},
        host=stated(memory_bytes=16 * GIB),
    ),
    proposes={"max_connections": 1020},
)
rule.fires(
    "No memory for more: nothing is raised",
    scene(
        "mariadb 10.11.18",
        {
            "max_connections": 500,
            "open_files_limit": 20_000,
            "table_open_cache": 2000,
            "innodb_buffer_pool_size": 3 * GIB,
        },
        status={"Max_used_connections": 501, "Threads_connected": 80},
        host=stated(memory_bytes=4 * GIB),
    ),
)
rule.passes(
    "Half of them",
    scene(
        "mysql 8.0.33",
        {"max_connections": 151, "open_files_limit": 20_000, "table_open_cache": 4000},
        status={"Max_used_connections": 75, "Threads_connected": 20},
    ),
)
rule.passes(
    "Just below 85 % on MariaDB",
    scene(
        "mariadb 10.11.18",
        {"max_connections": 500, "open_files_limit": 20_000, "table_open_cache": 2000},
        status={"Max_used_connections": 424, "Threads_connected": 100},
    ),
)
