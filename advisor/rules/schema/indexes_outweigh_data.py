"""A table's indexes take more than twice the room of its rows.

Why it matters
    Each row that is inserted goes into every index, mostly to a page of its own: such a table writes far more than its
    rows, and its indexes fill the buffer pool. It is a sign of indexes that repeat each other, or of a long primary
    key, which every secondary index carries along.

How it is computed
    Secondary indexes of at least 1 GiB that are more than twice the data, by the server's persistent statistics.

When to dismiss it
    The indexes are what the table is for (a search table), and each of them is read.
"""

from __future__ import annotations

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
    """How big the indexes are, by themselves and beside the rows."""

    index_bytes: float = threshold(GIB, unit=Unit.BYTES, meaning="size of the secondary indexes", leave_at=0.9 * GIB)
    index_to_data: float = threshold(2, unit=Unit.COUNT, meaning="indexes as a multiple of the data", leave_at=1.8)


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-index-types.html",
        "https://mariadb.com/docs/server/ha-and-performance/optimization-and-tuning/optimization-and-indexes",
    ],
)


@rule.check
def check(tables: Tables, p: Parameters) -> Finding | Passed:
    big = [one for one in tables.tables if one.index_bytes >= p.index_bytes]
    found = sorted(
        (one for one in big if one.index_bytes > p.index_to_data * one.data_bytes),
        key=lambda one: (-one.index_bytes, one.place),
    )
    if not found:
        count = Measured("tables with as big indexes", len(big), Unit.COUNT, None, "information_schema.TABLES")
        return Passed((*tables.measured(), count))
    named = found[:NAMED]
    return Finding(
        (
            Item(
                message=Message(
                    "Tables whose indexes are more than twice their rows: {count}, such as {table} ({indexes} for "
                    "{data})",
                    {
                        "count": Quantity(len(found), Unit.COUNT),
                        "table": Quantity(named[0].place, Unit.TEXT),
                        "indexes": Quantity(named[0].index_bytes, Unit.BYTES),
                        "data": Quantity(named[0].data_bytes, Unit.BYTES),
                    },
                ),
                evidence=tuple(figure for one in named for figure in _figures(one)),
                proposal=tuple(
                    SchemaAdvice(
                        one.place,
                        "Look which of its indexes are read and which repeat each other, and whether its primary key "
                        "is longer than it has to be: every secondary index ends with it.",
                    )
                    for one in named
                ),
                expected=Message("Inserts write fewer pages, and the buffer pool holds more rows."),
                price=(Price(PriceKind.READ_LATENCY, Message("a statement that used a dropped index takes another")),),
                would_change_our_mind=Message("A table that is there for its indexes."),
            ),
        )
    )


def _figures(one: Table) -> tuple[Measured, Measured]:
    source = "information_schema.TABLES"
    return (
        Measured(f"indexes of {one.place}", one.index_bytes, Unit.BYTES, None, source),
        Measured(f"rows of {one.place}", one.data_bytes, Unit.BYTES, None, source),
    )


def _table(data: float, indexes: float) -> dict[str, str | None]:
    return {
        "schema": "shop",
        "name": "events",
        "engine": "InnoDB",
        "data_bytes": str(int(data * GIB)),
        "index_bytes": str(int(indexes * GIB)),
    }


rule.fires("9 GiB of indexes over 3 GiB", scene("mysql 8.0.33", inspection=inspected(tables=[_table(3, 9)])))
rule.fires("The same on MariaDB", scene("mariadb 10.11.18", inspection=inspected(tables=[_table(0.5, 1.5)])))
rule.passes("As much as the rows", scene("mysql 8.0.33", inspection=inspected(tables=[_table(8, 9)])))
rule.passes("Small ones do no harm", scene("mariadb 10.11.18", inspection=inspected(tables=[_table(0.1, 0.5)])))
