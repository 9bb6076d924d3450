"""One temporary table may take gigabytes of memory.

Why it matters
    max_heap_table_size limits each MEMORY table, and with tmp_table_size each temporary table that a statement
    needs: not all of them together. At several GiB a handful of sessions with one bad GROUP BY each takes all the
    memory there is, and the server is killed instead of one statement being slow.

How it is computed
    max_heap_table_size is above 1 GiB as a global value. The proposal is 256 MiB for it, and for tmp_table_size
    where that is larger. A session that needs more asks for it: SET SESSION max_heap_table_size.

When to dismiss it
    MEMORY tables of that size are part of the design, and the memory for them is there.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import GIB, MIB, Quantity, Unit
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class HeapLimits(Settings):
    """The largest MEMORY table and the largest temporary table in memory, in bytes, by their global values."""

    max_heap_table_size: int
    tmp_table_size: int


@dataclass(frozen=True)
class Parameters(Thresholds):
    """How large one table in memory may become."""

    largest_bytes: float = threshold(GIB, unit=Unit.BYTES, meaning="limit of one table in memory, for all sessions")
    wanted_bytes: float = threshold(256 * MIB, unit=Unit.BYTES, meaning="the limit that is proposed")


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/server-system-variables.html",
        "https://mariadb.com/docs/server/server-management/variables-and-modes/server-system-variables",
    ],
)


@rule.check
def check(limits: HeapLimits, p: Parameters) -> Finding | Passed:
    if limits.max_heap_table_size <= p.largest_bytes:
        return Passed(limits.measured())
    wanted = int(p.wanted_bytes)
    large = [name for name in ("max_heap_table_size", "tmp_table_size") if getattr(limits, name) > wanted]
    return Finding(
        (
            Item(
                message=Message(
                    "One table in memory may take {size}, in every session",
                    {"size": Quantity(limits.max_heap_table_size, Unit.BYTES)},
                ),
                evidence=limits.measured(),
                proposal=tuple(SetVariable(name, wanted) for name in large),
                expected=Message("One statement can no longer take all the memory."),
                price=(
                    Price(
                        PriceKind.READ_LATENCY,
                        Message("larger temporary tables go to disk; larger MEMORY tables are refused as full"),
                        Quantity(limits.max_heap_table_size, Unit.BYTES),
                        Quantity(wanted, Unit.BYTES),
                    ),
                ),
                would_change_our_mind=Message("MEMORY tables of that size that are wanted."),
            ),
        )
    )


rule.fires(
    "8 GiB for each temporary table",
    scene("mysql 5.7.22", {"max_heap_table_size": 8 * GIB, "tmp_table_size": 8 * GIB}),
    proposes={"max_heap_table_size": 256 * MIB, "tmp_table_size": 256 * MIB},
)
rule.fires(
    "MariaDB with large MEMORY tables only",
    scene("mariadb 10.11.18", {"max_heap_table_size": 4 * GIB, "tmp_table_size": 64 * MIB}),
    proposes={"max_heap_table_size": 256 * MIB},
)
rule.passes(
    "512 MiB is a lot, and allowed",
    scene("mysql 5.7.22", {"max_heap_table_size": 512 * MIB, "tmp_table_size": 512 * MIB}),
)
rule.passes("The defaults", scene("mariadb 10.11.18"))
