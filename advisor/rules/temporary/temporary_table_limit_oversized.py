"""A single temporary table may take hundreds of megabytes of memory in every session.

Why it matters
    tmp_table_size and max_heap_table_size bound one table, not the sum: a statement may have several, and every
    session runs its own. With a limit of 1 GiB, ten reports at once may take more memory than the machine has, and the
    operating system ends the server. MySQL 8+ has temptable_max_ram for the sum; nothing bounds it elsewhere.

How it is computed
    The smaller of the two is above 256 MiB (MySQL 5.7, MariaDB). tmp_table_size is lowered to 256 MiB;
    max_heap_table_size is left alone, since people's own MEMORY tables may need it. A report that wants more sets it
    in its session.

When to dismiss it
    A reporting server with few sessions whose memory was counted with this limit in mind.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.facts.connections import MostConnections
from advisor.engine.facts.temporary import TemporaryTableLimits
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import GIB, MIB, Quantity, Unit
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class Parameters(Thresholds):
    """Which limit is too large for every session."""

    largest_bytes: float = threshold(256 * MIB, unit=Unit.BYTES, meaning="limit of one temporary table in memory")


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7,<8.0", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/5.7/en/server-system-variables.html",
        "https://mariadb.com/docs/server/server-management/variables-and-modes/server-system-variables",
    ],
)


@rule.check
def check(limits: TemporaryTableLimits, sessions: MostConnections, p: Parameters) -> Finding | Passed:
    figures = limits.measured("tmp_table_size", "max_heap_table_size") + sessions.measured()
    if limits.heap_bytes <= p.largest_bytes:
        return Passed(figures)
    wanted = int(p.largest_bytes)
    return Finding(
        (
            Item(
                message=Message(
                    "Each temporary table may take {size} of memory; {sessions} sessions were connected at once",
                    {
                        "size": Quantity(limits.heap_bytes, Unit.BYTES),
                        "sessions": Quantity(sessions.max_used_connections, Unit.COUNT),
                    },
                ),
                evidence=figures,
                proposal=(SetVariable("tmp_table_size", wanted),),
                expected=Message("A few large reports at once no longer endanger the server."),
                price=(
                    Price(
                        PriceKind.READ_LATENCY,
                        Message("temporary tables above the limit go to disk"),
                        Quantity(limits.heap_bytes, Unit.BYTES),
                        Quantity(wanted, Unit.BYTES),
                    ),
                ),
                would_change_our_mind=Message("Memory that was counted for as many such tables as can be at once."),
            ),
        )
    )


rule.fires(
    "Two gigabytes for every temporary table",
    scene(
        "mariadb 10.11.18",
        {"tmp_table_size": 2 * GIB, "max_heap_table_size": 2 * GIB},
        status={"Max_used_connections": 180},
    ),
    proposes={"tmp_table_size": 256 * MIB},
)
rule.fires(
    "The same on MySQL 5.7",
    scene(
        "mysql 5.7.22",
        {"tmp_table_size": GIB, "max_heap_table_size": GIB},
        status={"Max_used_connections": 40},
    ),
    proposes={"tmp_table_size": 256 * MIB},
)
rule.passes("Defaults", scene("mariadb 10.11.18", status={"Max_used_connections": 180}))
rule.passes(
    "64 MiB, and large MEMORY tables of people",
    scene(
        "mysql 5.7.22",
        {"tmp_table_size": 64 * MIB, "max_heap_table_size": GIB},
        status={"Max_used_connections": 40},
    ),
)
