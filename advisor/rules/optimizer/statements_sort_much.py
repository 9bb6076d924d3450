"""Statements sort many rows each time.

Why it matters
    A sort of 10,000 rows takes milliseconds of a core and memory in every session that does it, although an index in
    that order would give them sorted. A sort that does not fit into sort_buffer_size goes through files.

How it is computed
    From statement digests: 10,000 rows or more sorted per execution, or merges of sorted files in at least half of the
    executions, and the statement keeps 0.01 sessions busy on average or more.

When to dismiss it
    A report, or an order that no index can give (over two tables, or an expression).
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.facts.digests import NAMED, Statement, Statements, evidence_of, made_row
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import inspected, scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import Investigate


@dataclass(frozen=True)
class Parameters(Thresholds):
    """When it is spoken of."""

    sorted_rows: float = threshold(10_000, unit=Unit.COUNT, meaning="rows sorted per execution", leave_at=8_000)
    merge_ratio: float = threshold(0.5, unit=Unit.RATIO, meaning="merges of files per execution", leave_at=0.4)
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
        "https://dev.mysql.com/doc/refman/8.4/en/order-by-optimization.html",
    ],
)

_ADVICE = (
    "See by EXPLAIN (Using filesort) whether an index over the compared and then the ordered columns gives the "
    "order, or a LIMIT fits"
)

_FIGURES = (
    ("rows sorted per execution", lambda one: one.each(one.sort_rows), Unit.COUNT),
    ("merges of sorted files per execution", lambda one: one.each(one.sort_merge_passes), Unit.COUNT),
)


@rule.check
def check(statements: Statements, p: Parameters) -> Finding | Passed:
    found = statements.where(lambda one: _is_one(one, p))
    if not found:
        return Passed(statements.measured())
    first = found[0]
    return Finding(
        (
            Item(
                message=Message(
                    "Statements that sort many rows: {count}; {rows} each time by {statement}",
                    {
                        "count": Quantity(len(found), Unit.COUNT),
                        "statement": Quantity(first.brief, Unit.TEXT),
                        "rows": Quantity(first.each(first.sort_rows), Unit.COUNT),
                    },
                ),
                evidence=evidence_of(found, _FIGURES),
                proposal=tuple(Investigate(f"{_ADVICE}: {one.place}") for one in found[:NAMED]),
                expected=Message("Rows come in their order, and a LIMIT stops early."),
                price=(
                    Price(
                        PriceKind.DISK_WRITES,
                        Message("where an index is added, it is written with every insert and delete"),
                    ),
                ),
                would_change_our_mind=Message("A report, or an order that no index can give."),
            ),
        )
    )


def _is_one(one: Statement, p: Parameters) -> bool:
    return (
        one.each(one.sort_rows) >= p.sorted_rows or one.each(one.sort_merge_passes) >= p.merge_ratio
    ) and one.load >= p.load


rule.fires(
    "20,000 rows to show the newest ones",
    scene(
        "mysql 8.0.33",
        inspection=inspected(
            digests=[
                made_row(
                    "SELECT * FROM orders WHERE shop = ? ORDER BY day",
                    count=3600,
                    total_seconds=180,
                    rows_examined=144_000_000,
                    rows_sent=72_000_000,
                    sort_rows=72_000_000,
                )
            ]
        ),
    ),
)
rule.fires(
    "Merges of files",
    scene(
        "mariadb 10.11.18",
        inspection=inspected(
            digests=[
                made_row(
                    "SELECT * FROM orders ORDER BY note",
                    count=360,
                    total_seconds=90,
                    sort_rows=2_000_000,
                    sort_merge_passes=720,
                )
            ]
        ),
    ),
)
rule.passes(
    "The index gives the order",
    scene(
        "mysql 8.0.33",
        inspection=inspected(
            digests=[
                made_row(
                    "SELECT * FROM orders WHERE shop = ? ORDER BY day",
                    count=3600,
                    total_seconds=180,
                    rows_examined=72_000,
                    rows_sent=72_000,
                )
            ]
        ),
    ),
)
rule.passes(
    "A few rows",
    scene(
        "mariadb 10.11.18",
        inspection=inspected(
            digests=[made_row("SELECT * FROM orders ORDER BY note", count=3600, total_seconds=90, sort_rows=72_000)]
        ),
    ),
)
