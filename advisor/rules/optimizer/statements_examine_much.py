"""Statements read many rows by an index and use few of them.

Why it matters
    An index was used, but not a fitting one: most of the rows that it led to were thrown away by the rest of the
    condition. It looks fine in a list of statements without indexes, and costs as much as a scan.

How it is computed
    From statement digests: an index was used in most executions, 1,000 rows or more were read per execution and 100
    times as many as were sent or changed, the statement does not count or group, and it keeps 0.01 sessions busy on
    average or more. Pages by offset are told by another rule.

When to dismiss it
    The rows are needed for an answer that is short by nature (EXISTS over many rows).
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.facts.digests import NAMED, ExaminedStatements, Statement, evidence_of, made_row
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import inspected, scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import Investigate


@dataclass(frozen=True)
class Parameters(Thresholds):
    """When it is spoken of."""

    examined_rows: float = threshold(1_000, unit=Unit.COUNT, meaning="rows read per execution", leave_at=800)
    examined_to_useful: float = threshold(
        100, unit=Unit.COUNT, meaning="rows read for each that was sent or changed", leave_at=80
    )
    load: float = threshold(0.01, unit=Unit.COUNT, meaning="sessions that it keeps busy on average", leave_at=0.008)


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/performance-schema-statement-summary-tables.html",
        "https://mariadb.com/docs/server/reference/system-tables/performance-schema/performance-schema-tables/performance-schema-events_statements_summary_by_digest-table",
        "https://dev.mysql.com/doc/refman/8.4/en/multiple-column-indexes.html",
    ],
)

_ADVICE = (
    "See by EXPLAIN ANALYZE (MariaDB: ANALYZE) where rows are thrown away, and extend the index by the columns of "
    "that condition"
)

_FIGURES = (
    ("rows read per execution", lambda one: one.each(one.rows_examined), Unit.COUNT),
    ("sessions kept busy by executions", lambda one: one.load, Unit.COUNT),
)


@rule.check
def check(statements: ExaminedStatements, p: Parameters) -> Finding | Passed:
    found = statements.where(lambda one: _is_one(one, p))
    if not found:
        return Passed(statements.measured())
    first = found[0]
    return Finding(
        (
            Item(
                message=Message(
                    "Statements that read far more rows than they use: {count}; {rows} each time by {statement}",
                    {
                        "count": Quantity(len(found), Unit.COUNT),
                        "statement": Quantity(first.brief, Unit.TEXT),
                        "rows": Quantity(first.each(first.rows_examined), Unit.COUNT),
                    },
                ),
                evidence=evidence_of(found, _FIGURES),
                proposal=tuple(Investigate(f"{_ADVICE}: {one.place}") for one in found[:NAMED]),
                expected=Message("The index leads to the rows that are used."),
                price=(
                    Price(PriceKind.DISK_WRITES, Message("a longer index is written with every insert and delete")),
                ),
                would_change_our_mind=Message("An answer that is short by nature."),
            ),
        )
    )


def _is_one(one: Statement, p: Parameters) -> bool:
    return (
        one.each(one.no_index_used) < 0.5
        and one.full_joins == 0
        and not one.is_paged
        and one.each(one.rows_examined) >= p.examined_rows
        and one.rows_examined >= p.examined_to_useful * one.useful_rows
        and not (one.is_read and one.aggregates)
        and one.load >= p.load
    )


rule.fires(
    "An index on the colour alone",
    scene(
        "mysql 8.0.33",
        inspection=inspected(
            digests=[
                made_row(
                    "SELECT id FROM items WHERE colour = ? AND size = ?",
                    total_seconds=180,
                    rows_examined=180_000_000,
                    rows_sent=36_000,
                )
            ]
        ),
    ),
)
rule.fires(
    "A DELETE of old rows by another column",
    scene(
        "mariadb 10.11.18",
        inspection=inspected(
            digests=[
                made_row(
                    "DELETE FROM log WHERE kind = ? AND day < ?",
                    count=360,
                    total_seconds=90,
                    rows_examined=3_600_000,
                    rows_affected=720,
                )
            ]
        ),
    ),
)
rule.passes(
    "Each row that is read is sent",
    scene(
        "mysql 8.0.33",
        inspection=inspected(
            digests=[
                made_row(
                    "SELECT id FROM items WHERE colour = ? AND size = ?",
                    total_seconds=180,
                    rows_examined=180_000_000,
                    rows_sent=180_000_000,
                )
            ]
        ),
    ),
)
rule.passes(
    "A sum needs its rows",
    scene(
        "mariadb 10.11.18",
        inspection=inspected(
            digests=[
                made_row(
                    "SELECT SUM ( price ) FROM items WHERE colour = ?",
                    total_seconds=180,
                    rows_examined=180_000_000,
                    rows_sent=36_000,
                )
            ]
        ),
    ),
)
