"""Much of a table's file holds nothing.

Why it matters
    Rows that were deleted leave room that only this table uses again. The file stays as big as it ever was: in backups,
    on replicas and on the disk; half-empty pages take as much of the buffer pool as full ones.

How it is computed
    Free bytes in the table's file of at least 1 GiB that are at least 30 % of it. Two tables that tell the very same
    number share a tablespace, whose free room is not theirs: they are left out.

When to dismiss it
    The table grows back: a purge runs each night and the day fills it again.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from advisor.engine.facts.schema import NAMED, Table, Tables
from advisor.engine.outcome import Finding, Item, Measured, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import inspected, scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import GIB, Quantity, Unit
from advisor.mysql.proposal import SchemaAdvice


@dataclass(frozen=True)
class Parameters(Thresholds):
    """How much room, and which share of the file."""

    free_bytes: float = threshold(GIB, unit=Unit.BYTES, meaning="free room in the file", leave_at=0.8 * GIB)
    free_ratio: float = threshold(0.3, unit=Unit.RATIO, meaning="share of the file that is free", leave_at=0.25)


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-file-defragmenting.html",
        "https://mariadb.com/docs/server/ha-and-performance/optimization-and-tuning/optimizing-tables/optimize-table",
    ],
)


@rule.check
def check(tables: Tables, p: Parameters) -> Finding | Passed:
    told = Counter(table.free_bytes for table in tables.tables if table.free_bytes)
    own = [table for table in tables.tables if told[table.free_bytes] == 1]
    found = sorted(
        (one for one in own if one.free_bytes >= p.free_bytes and _share(one) >= p.free_ratio),
        key=lambda one: (-one.free_bytes, one.place),
    )
    if not found:
        most = max((one.free_bytes for one in own), default=0)
        figure = Measured("most free room in one table", most, Unit.BYTES, None, "information_schema.TABLES")
        return Passed((*tables.measured(), figure))
    named = found[:NAMED]
    return Finding(
        (
            Item(
                message=Message(
                    "Tables with much free room: {count} with {bytes}, most of it in {table} ({share} of its file)",
                    {
                        "count": Quantity(len(found), Unit.COUNT),
                        "bytes": Quantity(sum(one.free_bytes for one in found), Unit.BYTES),
                        "table": Quantity(named[0].place, Unit.TEXT),
                        "share": Quantity(_share(named[0]), Unit.RATIO),
                    },
                ),
                evidence=tuple(
                    Measured(f"free room of {one.place}", one.free_bytes, Unit.BYTES, None, "information_schema.TABLES")
                    for one in named
                ),
                proposal=tuple(
                    SchemaAdvice(
                        one.place,
                        "Rebuild it when little is written (ALTER TABLE ... ENGINE=InnoDB, or an online schema change "
                        "tool); partitions by time whose oldest is dropped leave no holes.",
                    )
                    for one in named
                ),
                expected=Message("Smaller files, shorter backups, and fuller pages in the buffer pool."),
                price=(
                    Price(PriceKind.DISK, Message("for the time of the rebuild the table is there twice")),
                    Price(PriceKind.DISK_WRITES, Message("the table is written once, and replicas do the same")),
                ),
                would_change_our_mind=Message("A table that fills up again by itself."),
            ),
        )
    )


def _share(table: Table) -> float:
    return table.free_bytes / (table.bytes + table.free_bytes)


def _table(name: str, data: float, free: float) -> dict[str, str | None]:
    return {
        "schema": "shop",
        "name": name,
        "engine": "InnoDB",
        "data_bytes": str(int(data * GIB)),
        "index_bytes": "0",
        "free_bytes": str(int(free * GIB)),
    }


rule.fires("Half of 8 GiB is empty", scene("mysql 8.0.33", inspection=inspected(tables=[_table("events", 4, 4)])))
rule.fires("The same on MariaDB", scene("mariadb 10.11.18", inspection=inspected(tables=[_table("events", 2, 1.5)])))
rule.passes(
    "Much in bytes and little of the file",
    scene("mysql 8.0.33", inspection=inspected(tables=[_table("events", 40, 2)])),
)
rule.passes(
    "Two tables in one tablespace tell its free room, not their own",
    scene("mariadb 10.11.18", inspection=inspected(tables=[_table("a", 0.1, 3), _table("b", 0.2, 3)])),
)
