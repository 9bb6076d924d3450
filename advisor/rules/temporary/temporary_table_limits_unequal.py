"""tmp_table_size is larger than max_heap_table_size, which is the one that counts.

Why it matters
    An internal temporary table in memory may grow up to the smaller of the two. Who raised tmp_table_size alone
    changed nothing, believes otherwise, and temporary tables still go to disk.

How it is computed
    tmp_table_size is above max_heap_table_size, and temporary tables do go to disk (0.1 a second or more). Both are set
    to what tmp_table_size asks for, up to 256 MiB. The other way round is no fault: max_heap_table_size bounds the
    MEMORY tables that people create, too.

When to dismiss it
    max_heap_table_size is kept low on purpose, so that people's own MEMORY tables stay small.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.facts.temporary import TemporaryTableLimits, TemporaryTables
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import GIB, MIB, Quantity, Unit, round_up
from advisor.mysql.proposal import Change, SetVariable


@dataclass(frozen=True)
class Parameters(Thresholds):
    """When the difference matters."""

    disk_tables_per_second: float = threshold(
        0.1, unit=Unit.PER_SECOND, meaning="internal temporary tables on disk", leave_at=0.08
    )
    largest_bytes: float = threshold(256 * MIB, unit=Unit.BYTES, meaning="no larger limit of one table is proposed")


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7,<8.0", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    caused_by=[TemporaryTables],
    raises=["max_heap_table_size"],
    references=[
        "https://dev.mysql.com/doc/refman/5.7/en/internal-temporary-tables.html",
        "https://mariadb.com/docs/server/server-management/variables-and-modes/server-system-variables",
    ],
)


@rule.check
def check(limits: TemporaryTableLimits, tables: TemporaryTables, p: Parameters) -> Finding | Passed:
    figures = limits.measured("tmp_table_size", "max_heap_table_size") + tables.measured("created_tmp_disk_tables")
    matters = tables.created_tmp_disk_tables >= p.disk_tables_per_second and limits.heap_bytes <= p.largest_bytes
    if limits.tmp_table_size <= limits.max_heap_table_size or not matters:
        return Passed(figures)
    wanted = round_up(min(limits.tmp_table_size, p.largest_bytes), MIB)
    proposal: tuple[Change, ...] = (SetVariable("max_heap_table_size", wanted),)
    if limits.tmp_table_size != wanted:
        proposal += (SetVariable("tmp_table_size", wanted),)
    return Finding(
        (
            Item(
                message=Message(
                    "tmp_table_size = {wanted} has no effect beyond max_heap_table_size = {limit}",
                    {
                        "wanted": Quantity(limits.tmp_table_size, Unit.BYTES),
                        "limit": Quantity(limits.max_heap_table_size, Unit.BYTES),
                    },
                ),
                evidence=figures,
                proposal=proposal,
                expected=Message("Temporary tables stay in memory up to the size that was asked for."),
                price=(
                    Price(
                        PriceKind.MEMORY,
                        Message("for each temporary table of each session, and for each MEMORY table"),
                        Quantity(limits.max_heap_table_size, Unit.BYTES),
                        Quantity(wanted, Unit.BYTES),
                    ),
                ),
                would_change_our_mind=Message("A wish to keep people's own MEMORY tables small."),
            ),
        )
    )


rule.fires(
    "tmp_table_size raised alone",
    scene(
        "mariadb 10.11.18",
        {"tmp_table_size": 64 * MIB},
        counters={"Created_tmp_tables": 4, "Created_tmp_disk_tables": 1},
        deliberate=True,
    ),
    proposes={"max_heap_table_size": 64 * MIB},
)
rule.fires(
    "A gigabyte asked for: both at 256 MiB",
    scene(
        "mysql 5.7.22",
        {"tmp_table_size": GIB},
        counters={"Created_tmp_tables": 4, "Created_tmp_disk_tables": 1},
        deliberate=True,
    ),
    proposes={"max_heap_table_size": 256 * MIB, "tmp_table_size": 256 * MIB},
)
rule.passes(
    "Unequal, but nothing goes to disk",
    scene(
        "mariadb 10.11.18",
        {"tmp_table_size": 64 * MIB},
        counters={"Created_tmp_tables": 4, "Created_tmp_disk_tables": 0},
        deliberate=True,
    ),
)
rule.passes(
    "Room for large MEMORY tables of people",
    scene(
        "mysql 5.7.22",
        {"max_heap_table_size": 512 * MIB},
        counters={"Created_tmp_tables": 4, "Created_tmp_disk_tables": 1},
        deliberate=True,
    ),
)
