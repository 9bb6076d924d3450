"""Statements look into every one of many partitions for a few rows.

Why it matters
    A condition that does not name the partitioning column reads an index of each partition, and before that the
    optimizer asks each of them for an estimate: one to three pages in each, several times. A statement for ten rows of
    a table with 26 partitions was measured at 11 ms; without those estimates it took 2.9 ms, and the server answered
    17,000 a second instead of 4,500. MySQL's bug 96233 is about them and is open as far as is known.

How it is computed
    A table with 24 partitions or more (subpartitions counted), and statement digests that name it, read at most 1,000
    rows per execution, and take 0.4 ms and 3 microseconds for each partition more than the rows explain (2 microseconds
    each). Measured with 150 partitions on four versions: 0.7 to 1.6 ms for 50 rows, 0.1 to 0.4 ms with one partition.

When to dismiss it
    EXPLAIN names one or two partitions for the statement: then its time goes elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.facts.digests import ExaminedStatements, Statement, made_row
from advisor.engine.facts.schema import PartitionedTables, RecordsInRange
from advisor.engine.outcome import Finding, Item, Measured, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import inspected, scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import Quantity, Unit
from advisor.mysql.inspection import Inspection
from advisor.mysql.proposal import Change, Investigate, SchemaAdvice

#: Each is a recommendation of its own; more are said when these are done.
_NAMED = 5
_SECONDS_PER_ROW = 2e-6


@dataclass(frozen=True)
class Parameters(Thresholds):
    """Which tables and which statements."""

    partitions: float = threshold(24, unit=Unit.COUNT, meaning="partitions of the table")
    examined_rows: float = threshold(1_000, unit=Unit.COUNT, meaning="rows read per execution at the most")
    unexplained_seconds: float = threshold(
        0.0004, unit=Unit.SECONDS, meaning="time per execution that rows do not explain", leave_at=0.0003
    )
    seconds_per_partition: float = threshold(
        0.000003, unit=Unit.SECONDS, meaning="the same for each partition", leave_at=0.0000025
    )
    warning_load: float = threshold(
        0.5, unit=Unit.COUNT, meaning="a warning from so many busy sessions on", leave_at=0.4
    )


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/partitioning-pruning.html",
        "https://docs.percona.com/percona-server/8.0/query-limit-records.html",
        "https://mariadb.com/docs/server/server-usage/partitioning-tables/partition-pruning-and-selection",
    ],
)


@rule.check
def check(
    partitioned: PartitionedTables, statements: ExaminedStatements, percona: RecordsInRange, p: Parameters
) -> Finding | Passed:
    items: list[tuple[float, Item]] = []
    for table in partitioned.tables:
        if table.partitions < p.partitions:
            continue
        found = tuple(
            one
            for one in statements.statements
            if one.reads_table(table.schema, table.name) and _is_one(one, table.partitions, p)
        )
        if found:
            load = sum(one.load for one in found)
            items.append((-load, _item(table.place, table.partitions, found, load, percona.can_be_forced, p)))
    if not items:
        return Passed((*partitioned.measured(), *statements.measured()))
    return Finding(tuple(item for _, item in sorted(items, key=lambda pair: (pair[0], pair[1].subject))[:_NAMED]))


def _is_one(one: Statement, partitions: int, p: Parameters) -> bool:
    unexplained = one.each(one.total_seconds) - _SECONDS_PER_ROW * one.each(one.rows_examined)
    return (
        one.verb in ("SELECT", "WITH", "UPDATE", "DELETE")
        and one.each(one.rows_examined) <= p.examined_rows
        and unexplained >= p.unexplained_seconds
        and unexplained >= p.seconds_per_partition * partitions
    )


def _item(place: str, partitions: int, found: tuple[Statement, ...], load: float, forced: bool, p: Parameters) -> Item:
    first = found[0]
    proposal: list[Change] = [
        Investigate(f"See by EXPLAIN how many partitions it reads (column partitions): {first.place}"),
        SchemaAdvice(
            place,
            "Give the statement a condition on the partitioning column, or merge partitions: by quarter instead of by "
            "month, old ones into one. What is not purged by dropping partitions needs none.",
        ),
    ]
    if forced:
        proposal.append(
            Investigate(
                "Percona Server can leave the estimates out: try innodb_force_index_records_in_range and "
                "innodb_records_in_range (a technical preview, for all statements) with FORCE INDEX on a copy first."
            )
        )
    return Item(
        message=Message(
            "{table} has {partitions} partitions, and a statement takes {time} ms to read {rows} rows of it",
            {
                "table": Quantity(place, Unit.TEXT),
                "partitions": Quantity(partitions, Unit.COUNT),
                "time": Quantity(1000 * first.each(first.total_seconds), Unit.COUNT),
                "rows": Quantity(first.each(first.rows_examined), Unit.COUNT),
            },
        ),
        evidence=(
            Measured(f"partitions of {place}", partitions, Unit.COUNT, None, "InnoDB's dictionary"),
            first.figure("milliseconds per execution", 1000 * first.each(first.total_seconds), Unit.COUNT),
            first.figure("rows read per execution", first.each(first.rows_examined), Unit.COUNT),
            first.figure("sessions kept busy", load, Unit.COUNT),
            first.span(),
        ),
        proposal=tuple(proposal),
        subject=place,
        severity=Severity.WARNING if load >= p.warning_load else None,
        expected=Message("The statement opens the partitions that hold its rows, and no others."),
        price=(Price(PriceKind.DISK_WRITES, Message("merging partitions copies their rows")),),
        would_change_our_mind=Message("An EXPLAIN that names one or two partitions."),
    )


def _seen(partitions: int, milliseconds: float, executions: int = 36_000) -> Inspection:
    return inspected(
        partitioned_tables=[{"schema": "shop", "name": "visits", "partitions": str(partitions)}],
        digests=[
            made_row(
                "SELECT * FROM `visits` WHERE `member` = ? ORDER BY `day` DESC LIMIT ?",
                count=executions,
                total_seconds=executions * milliseconds / 1000,
                rows_examined=50 * executions,
                rows_sent=10 * executions,
            )
        ],
    )


rule.fires("150 partitions, 1.5 ms for 50 rows", scene("mysql 8.0.33", inspection=_seen(150, 1.5)))
rule.fires("Monthly for two years, 11 ms", scene("mariadb 10.11.18", inspection=_seen(26, 11)))
rule.fires(
    "On Percona Server a trial of its variables is named, too",
    scene(
        "percona 8.0.36",
        {"innodb_force_index_records_in_range": 0, "innodb_records_in_range": 0},
        inspection=_seen(26, 11, 720_000),
    ),
)
rule.passes("The statement names the day: one partition", scene("mysql 8.0.33", inspection=_seen(150, 0.2)))
rule.passes("Twelve partitions", scene("mariadb 10.11.18", inspection=_seen(12, 3)))
rule.passes("Twelve partitions on Percona Server", scene("percona 8.0.36", inspection=_seen(12, 3)))
