"""Many times more connections are admitted than there ever were.

Why it matters
    A limit of many thousands protects nothing: when clients flood the server it runs out of memory instead of
    turning them away. performance_schema and the table caches are also laid out by it.

How it is computed
    After a week of uptime: max_connections is above 1,000, and less than a tenth of it was ever used at once. The
    proposal is three times the most there ever were, at least 151.

When to dismiss it
    The flood is planned: a fail-over that brings all clients of another server here.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.facts.connections import ConnectionLimit
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity, unused
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import WEEK, Quantity, Unit
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class Parameters(Thresholds):
    """When a limit is too high."""

    smallest: float = threshold(1000, unit=Unit.COUNT, meaning="max_connections up to which nothing is said")
    used_ratio: float = threshold(
        0.1, unit=Unit.RATIO, meaning="most connections at once as a share of max_connections", leave_at=0.12
    )
    uptime_seconds: float = threshold(WEEK, unit=Unit.SECONDS, meaning="uptime after which a week's peak is known")


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/server-system-variables.html",
        "https://mariadb.com/docs/server/server-management/variables-and-modes/server-system-variables",
    ],
)


@rule.check
def check(limit: ConnectionLimit, p: Parameters) -> Finding | Passed:
    wanted = limit.lowered(limit.room)
    figures = unused(limit.measured())
    high = limit.maximum > p.smallest and limit.used_ratio < p.used_ratio and wanted < limit.maximum
    if not high or limit.uptime_seconds < p.uptime_seconds:
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message(
                    "{limit} connections are admitted, and there never were more than {used}",
                    {"limit": Quantity(limit.maximum, Unit.COUNT), "used": Quantity(limit.used, Unit.COUNT)},
                ),
                evidence=figures,
                proposal=(SetVariable("max_connections", wanted),),
                expected=Message("A flood of clients is turned away before memory runs out."),
                price=(
                    Price(
                        PriceKind.OVERHEAD,
                        Message("clients above the limit are refused"),
                        Quantity(limit.maximum, Unit.COUNT),
                        Quantity(wanted, Unit.COUNT),
                    ),
                ),
                would_change_our_mind=Message("A fail-over that brings another server's clients here."),
            ),
        )
    )


rule.fires(
    "10,000 admitted, 60 used in a month",
    scene(
        "mysql 8.0.33",
        {"max_connections": 10_000, "open_files_limit": 50_000, "table_open_cache": 4000},
        status={"Max_used_connections": 60, "Threads_connected": 20},
    ),
    proposes={"max_connections": 180},
)
rule.fires(
    "MariaDB with 2,000 for ten",
    scene(
        "mariadb 10.11.18",
        {"max_connections": 2000, "open_files_limit": 50_000, "table_open_cache": 2000},
        status={"Max_used_connections": 10, "Threads_connected": 5},
    ),
    proposes={"max_connections": 151},
)
rule.passes(
    "A fifth of them was used",
    scene(
        "mysql 8.0.33",
        {"max_connections": 2000, "open_files_limit": 50_000, "table_open_cache": 4000},
        status={"Max_used_connections": 400, "Threads_connected": 20},
    ),
)
rule.passes(
    "1,000 for ten is no harm",
    scene("mariadb 10.11.18", {"max_connections": 1000}, status={"Max_used_connections": 10, "Threads_connected": 5}),
)
