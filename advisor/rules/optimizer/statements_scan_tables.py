"""Statements read whole tables for want of an index.

Why it matters
    A statement without a usable index reads every row of its table, each time: it gets slower as the table grows,
    pushes other pages out of the buffer pool, and an UPDATE or DELETE of that kind locks every row that it reads.

How it is computed
    From statement digests: at least half of the executions used no index, each read 1,000 rows or more and 100 times as
    many as it sent or changed, and the statement keeps 0.01 sessions busy on average (36 s of an hour) or more. Pages
    by offset are told by another rule.

When to dismiss it
    A report that is meant to read everything, or a table that stays small.
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

    no_index_ratio: float = threshold(
        0.5, unit=Unit.RATIO, meaning="share of executions without an index", leave_at=0.4
    )
    examined_rows: float = threshold(1_000, unit=Unit.COUNT, meaning="rows read per execution", leave_at=800)
    examined_to_useful: float = threshold(
        100, unit=Unit.COUNT, meaning="rows read for each that was sent or changed", leave_at=80
    )
    load: float = threshold(0.01, unit=Unit.COUNT, meaning="sessions that it keeps busy on average", leave_at=0.008)


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/performance-schema-statement-summary-tables.html",
        "https://mariadb.com/docs/server/reference/system-tables/performance-schema/performance-schema-tables/performance-schema-events_statements_summary_by_digest-table",
        "https://dev.mysql.com/doc/refman/8.4/en/table-scan-avoidance.html",
    ],
)

_ADVICE = (
    "See by EXPLAIN which condition could use an index, and add it (several columns in one index, those compared "
    "with = first)"
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
                    "Statements that read whole tables: {count}; {rows} rows each time by {statement}",
                    {
                        "count": Quantity(len(found), Unit.COUNT),
                        "statement": Quantity(first.brief, Unit.TEXT),
                        "rows": Quantity(first.each(first.rows_examined), Unit.COUNT),
                    },
                ),
                evidence=evidence_of(found, _FIGURES),
                proposal=tuple(Investigate(f"{_ADVICE}: {one.place}") for one in found[:NAMED]),
                expected=Message("The statement reads the rows that it needs, and locks only those."),
                price=(
                    Price(PriceKind.DISK_WRITES, Message("each new index is written with every insert and delete")),
                ),
                would_change_our_mind=Message(
                    "A table that stays small, or a report that reads everything on purpose."
                ),
            ),
        )
    )


def _is_one(one: Statement, p: Parameters) -> bool:
    return (
        one.each(one.no_index_used) >= p.no_index_ratio
        and one.full_joins == 0
        and not one.is_paged
        and one.each(one.rows_examined) >= p.examined_rows
        and one.rows_examined >= p.examined_to_useful * one.useful_rows
        and not (one.is_read and one.aggregates and " WHERE " not in one.text.upper())
        and one.load >= p.load
    )


rule.fires(
    "200,000 rows for one",
    scene(
        "mysql 8.0.33",
        inspection=inspected(
            digests=[
                made_row(
                    "SELECT * FROM orders WHERE note = ?",
                    count=3600,
                    total_seconds=180,
                    rows_examined=720_000_000,
                    rows_sent=3600,
                    no_index_used=3600,
                )
            ]
        ),
    ),
)
rule.fires(
    "An UPDATE that looks for its row",
    scene(
        "mariadb 10.11.18",
        inspection=inspected(
            digests=[
                made_row(
                    "UPDATE orders SET state = ? WHERE note = ?",
                    count=3600,
                    total_seconds=90,
                    rows_examined=36_000_000,
                    rows_affected=3600,
                    no_index_used=3600,
                )
            ]
        ),
    ),
)
rule.passes(
    "It has its index",
    scene(
        "mysql 8.0.33",
        inspection=inspected(
            digests=[
                made_row(
                    "SELECT * FROM orders WHERE note = ?",
                    count=3600,
                    total_seconds=180,
                    rows_examined=3600,
                    rows_sent=3600,
                )
            ]
        ),
    ),
)
rule.passes(
    "A table of forty rows",
    scene(
        "mariadb 10.11.18",
        inspection=inspected(
            digests=[
                made_row("SELECT * FROM colours", rows_examined=1_440_000, rows_sent=1_440_000, no_index_used=36_000)
            ]
        ),
    ),
)
