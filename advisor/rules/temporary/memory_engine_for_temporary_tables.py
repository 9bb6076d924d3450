"""Temporary tables are kept in the MEMORY engine, and go to disk for it.

Why it matters
    MySQL 8 has the TempTable engine for internal temporary tables: it stores VARCHAR by its length and keeps BLOB and
    TEXT in memory (from 8.0.13). internal_tmp_mem_storage_engine = MEMORY goes back to the old engine, which gives
    every VARCHAR its full width and sends each table with a BLOB or TEXT column to disk at once.

How it is computed
    The setting is MEMORY, and Created_tmp_disk_tables grew by more than 1 a second and by more than 25 % of
    Created_tmp_tables between full snapshots.

When to dismiss it
    Statements here were measured to be slower with TempTable (early releases of 8.0 had such cases).
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.facts.temporary import TemporaryTableLimits, TemporaryTables
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class Parameters(Thresholds):
    """When disk tables are too many."""

    disk_tables_per_second: float = threshold(
        1.0, unit=Unit.PER_SECOND, meaning="internal temporary tables on disk", leave_at=0.8
    )
    disk_tables_ratio: float = threshold(
        0.25, unit=Unit.RATIO, meaning="share of temporary tables that go to disk", leave_at=0.2
    )


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=8.0.13"],
    since="0.2",
    parameters=Parameters(),
    references=["https://dev.mysql.com/doc/refman/8.4/en/internal-temporary-tables.html"],
)


@rule.check
def check(limits: TemporaryTableLimits, tables: TemporaryTables, p: Parameters) -> Finding | Passed:
    figures = limits.measured() + tables.measured()
    if (
        not limits.in_heap
        or limits.big_tables
        or not tables.too_many_on_disk(p.disk_tables_per_second, p.disk_tables_ratio)
    ):
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message(
                    "The MEMORY engine sends {rate} temporary tables a second to disk",
                    {"rate": Quantity(tables.created_tmp_disk_tables, Unit.COUNT)},
                ),
                evidence=figures,
                proposal=(SetVariable("internal_tmp_mem_storage_engine", "TempTable"),),
                expected=Message("Temporary tables with BLOB and TEXT columns stay in memory, too."),
                price=(
                    Price(
                        PriceKind.MEMORY,
                        Message("for all temporary tables together, at most"),
                        None,
                        Quantity(limits.temptable_max_ram, Unit.BYTES),
                    ),
                ),
                would_change_our_mind=Message("A measurement by which these statements are slower with TempTable."),
            ),
        )
    )


rule.fires(
    "MEMORY, and half of the tables on disk",
    scene(
        "mysql 8.0.33",
        {"internal_tmp_mem_storage_engine": "MEMORY"},
        counters={"Created_tmp_tables": 10, "Created_tmp_disk_tables": 5},
        deliberate=True,
    ),
    proposes={"internal_tmp_mem_storage_engine": "TempTable"},
)
rule.passes(
    "MEMORY, and nothing goes to disk",
    scene(
        "mysql 8.0.33",
        {"internal_tmp_mem_storage_engine": "MEMORY"},
        counters={"Created_tmp_tables": 10, "Created_tmp_disk_tables": 0},
        deliberate=True,
    ),
)
rule.passes(
    "TempTable",
    scene("mysql 9.7.4", counters={"Created_tmp_tables": 10, "Created_tmp_disk_tables": 5}, deliberate=True),
)
