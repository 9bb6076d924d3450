"""Internal temporary tables are written to disk.

Why it matters
    GROUP BY, DISTINCT, UNION and derived tables are worked out in internal temporary tables. One that does not stay in
    memory is copied to disk in the middle of the statement and read back from there: the statement takes several times
    as long, and the pages it writes push data out of the caches.

How it is computed
    Created_tmp_disk_tables grew by more than 1 a second and by more than 25 % of Created_tmp_tables. What stops a table
    differs: on MySQL 5.7 and MariaDB the smaller of tmp_table_size and max_heap_table_size, and a BLOB or TEXT column
    at any size (MariaDB keeps some in Aria's page cache); on MySQL 8.0.28 and later tmp_table_size for one table and
    temptable_max_ram for all. The limit is doubled, to 16 MiB at least and 64 MiB at most: it counts for every
    temporary table of every session. Where the server tells another reason, or 64 MiB are there already, the
    statements are to be looked at instead. Nothing is said here while big_tables, unequal limits or the MEMORY engine
    on MySQL 8 are the reason: these have rules of their own.

When to dismiss it
    The statements that do it are reports which may take their time, or all of them select BLOB or TEXT columns: then no
    size keeps them in memory on MySQL 5.7 and MariaDB.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.facts.temporary import TemporaryTableLimits, TemporaryTables
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import MIB, Quantity, Unit, round_up
from advisor.mysql.proposal import Change, Investigate, SetVariable


@dataclass(frozen=True)
class Parameters(Thresholds):
    """When disk tables are too many, and how large a limit is proposed at most."""

    disk_tables_per_second: float = threshold(
        1.0, unit=Unit.PER_SECOND, meaning="internal temporary tables on disk", leave_at=0.8
    )
    disk_tables_ratio: float = threshold(
        0.25, unit=Unit.RATIO, meaning="share of temporary tables that go to disk", leave_at=0.2
    )
    largest_bytes: float = threshold(64 * MIB, unit=Unit.BYTES, meaning="no larger limit of one table is proposed")


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    caused_by=[TemporaryTables],
    raises=["tmp_table_size", "max_heap_table_size"],
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/internal-temporary-tables.html",
        "https://mariadb.com/docs/server/server-management/variables-and-modes/server-system-variables",
    ],
)

#: Below the default nothing is proposed.
_SMALLEST = 16 * MIB


@rule.check
def check(limits: TemporaryTableLimits, tables: TemporaryTables, p: Parameters) -> Finding | Passed:
    figures = tables.measured() + limits.measured()
    if not tables.too_many_on_disk(p.disk_tables_per_second, p.disk_tables_ratio):
        return Passed(figures)
    of_another_rule = (
        limits.big_tables
        or tables.for_want_of_shared_memory
        or (limits.in_heap and (limits.has_temptable_with_blobs or limits.tmp_table_size > limits.max_heap_table_size))
    )
    if of_another_rule:
        return Passed(figures)
    present = limits.tmp_table_size
    wanted = round_up(min(max(2 * present, _SMALLEST), p.largest_bytes), MIB)
    by_size = (limits.in_heap or limits.temptable_has_a_limit_by_table) and not tables.for_another_reason
    proposal: tuple[Change, ...] = (SetVariable("tmp_table_size", wanted),)
    price: tuple[Price, ...] = (
        Price(
            PriceKind.MEMORY,
            Message("for each temporary table of each session, while its statement runs"),
            Quantity(present, Unit.BYTES),
            Quantity(wanted, Unit.BYTES),
        ),
    )
    if limits.in_heap and limits.max_heap_table_size < wanted:
        proposal += (SetVariable("max_heap_table_size", wanted),)
    if not by_size or wanted <= present:
        proposal, price = (
            (
                Investigate(
                    "Find the statements with disk temporary tables by their digests (SUM_CREATED_TMP_DISK_TABLES): "
                    "select fewer or shorter columns (BLOB and TEXT above all), group by an index, and leave no "
                    "DISTINCT or UNION where UNION ALL does."
                ),
            ),
            (),
        )
    return Finding(
        (
            Item(
                message=Message(
                    "{rate} internal temporary tables a second are written to disk",
                    {"rate": Quantity(tables.created_tmp_disk_tables, Unit.COUNT)},
                ),
                evidence=figures,
                proposal=proposal,
                expected=Message("Temporary tables up to the limit stay in memory."),
                price=price,
                would_change_our_mind=Message("Statements that select BLOB or TEXT columns make most of them."),
            ),
        )
    )


rule.fires(
    "MariaDB with the default 16 MiB",
    scene("mariadb 10.11.18", counters={"Created_tmp_tables": 10, "Created_tmp_disk_tables": 5}, deliberate=True),
    proposes={"tmp_table_size": 32 * MIB, "max_heap_table_size": 32 * MIB},
)
rule.fires(
    "MySQL 8.0.33: TempTable stops at tmp_table_size, and max_heap_table_size does not count",
    scene("mysql 8.0.33", counters={"Created_tmp_tables": 10, "Created_tmp_disk_tables": 5}, deliberate=True),
    proposes={"tmp_table_size": 32 * MIB},
)
rule.fires(
    "MySQL 8.0.12: no size of one table counts there, so that the statements are looked at",
    scene("mysql 8.0.12", counters={"Created_tmp_tables": 10, "Created_tmp_disk_tables": 5}, deliberate=True),
)
rule.fires(
    "64 MiB are there already: no larger limit, but the statements",
    scene(
        "mysql 5.7.22",
        {"tmp_table_size": 64 * MIB, "max_heap_table_size": 64 * MIB},
        counters={"Created_tmp_tables": 20, "Created_tmp_disk_tables": 12},
        deliberate=True,
    ),
)
rule.passes(
    "Many temporary tables, one in a hundred of them on disk",
    scene("mariadb 10.11.18", counters={"Created_tmp_tables": 200, "Created_tmp_disk_tables": 2}, deliberate=True),
)
rule.passes(
    "Half of few",
    scene("mysql 8.0.33", counters={"Created_tmp_tables": 0.4, "Created_tmp_disk_tables": 0.2}, deliberate=True),
)
rule.passes(
    "MySQL 9.7 tells that memory for all of them was used up: another rule's matter",
    scene(
        "mysql 9.7.4",
        counters={
            "Created_tmp_tables": 10,
            "Created_tmp_disk_tables": 5,
            "Count_hit_tmp_table_size": 0,
            "TempTable_count_hit_max_ram": 5,
        },
        deliberate=True,
    ),
)
