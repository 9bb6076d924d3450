"""Clients are being refused since all connections are taken.

Why it matters
    "Too many connections" is an outage for whoever gets it. Unlike other errors it hits new clients only, so that
    monitoring over a kept connection sees nothing of it.

How it is computed
    Connection_errors_max_connections rose between full snapshots, at least once every ten minutes on average. The
    proposal is a third more than the present limit, as far as open files and the host's memory have room for it.
    MariaDB 10.5 counts no such refusals (its counter stayed at 0 while 19 clients were refused); there only the
    high-water mark tells.

When to dismiss it
    The limit is meant to refuse: a load test, or a client that is known to connect without end.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import HarmRates
from advisor.engine.facts.connections import ConnectionLimit
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import Change, Investigate, SetVariable


@dataclass(frozen=True)
class Refused(HarmRates):
    """Connections refused since all were taken, and connections tried, per second."""

    connection_errors_max_connections: float
    connections: float


@dataclass(frozen=True)
class Parameters(Thresholds):
    """When clients are refused."""

    refused_per_second: float = threshold(
        1 / 600, unit=Unit.PER_SECOND, meaning="connections refused since all were taken", leave_at=1 / 1800
    )


rule = Rule(
    __name__,
    severity=Severity.CRITICAL,
    applies_to=["mysql>=5.7", "mariadb>=10.2,<10.5", "mariadb>=10.6"],
    since="0.2",
    parameters=Parameters(),
    caused_by=[Refused],
    raises=["max_connections"],
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/too-many-connections.html",
        "https://mariadb.com/docs/server/ha-and-performance/optimization-and-tuning/system-variables/handling-too-many-connections",
    ],
)


@rule.check
def check(limit: ConnectionLimit, refused: Refused, p: Parameters) -> Finding | Passed:
    figures = limit.measured() + refused.measured()
    if refused.connection_errors_max_connections < p.refused_per_second:
        return Passed(figures)
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
    if wanted <= limit.maximum:
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
                    "Clients are refused: all {limit} connections are taken",
                    {"limit": Quantity(limit.maximum, Unit.COUNT)},
                ),
                evidence=figures,
                proposal=proposal,
                expected=Message("Clients find a place again.") if price else None,
                price=price,
                would_change_our_mind=Message(
                    "Sessions that pile up behind another fault: more of them would wait, too."
                ),
            ),
        )
    )


rule.fires(
    "Three clients a second are turned away",
    scene(
        "mysql 8.0.33",
        {"max_connections": 151, "open_files_limit": 20_000, "table_open_cache": 4000},
        status={"Max_used_connections": 152, "Threads_connected": 151},
        counters={"Connection_errors_max_connections": 3, "Connections": 5},
        deliberate=True,
    ),
    proposes={"max_connections": 200},
)
rule.fires(
    "MariaDB, now and then",
    scene(
        "mariadb 10.11.18",
        {"max_connections": 500, "open_files_limit": 20_000, "table_open_cache": 2000},
        status={"Max_used_connections": 501, "Threads_connected": 80},
        counters={"Connection_errors_max_connections": 0.1, "Connections": 5},
        deliberate=True,
    ),
    proposes={"max_connections": 660},
)
rule.passes(
    "Nobody is refused",
    scene(
        "mysql 8.0.33",
        {"max_connections": 151, "open_files_limit": 20_000, "table_open_cache": 4000},
        status={"Max_used_connections": 75, "Threads_connected": 20},
        counters={"Connection_errors_max_connections": 0, "Connections": 5},
        deliberate=True,
    ),
)
rule.passes(
    "Nobody is refused by MariaDB",
    scene(
        "mariadb 10.11.18",
        status={"Max_used_connections": 20, "Threads_connected": 20},
        counters={"Connection_errors_max_connections": 0, "Connections": 50},
        deliberate=True,
    ),
)
