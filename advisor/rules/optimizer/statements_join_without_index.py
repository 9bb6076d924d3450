"""Statements join tables without an index.

Why it matters
    For a join without an index on the inner table the server compares all rows of one with all rows of the other: a
    hash join or a join buffer makes it cheaper, but its work still grows with the product or the sum of both tables. A
    bigger join_buffer_size hides it for a while and costs memory for every session.

How it is computed
    From statement digests: at least half of the executions joined by reading a whole inner table (full join), or chose
    an index anew for each row of the outer one, it takes 1 ms or more, and keeps 0.01 sessions busy on average or more.
    Rows read are no measure of it: MariaDB does not count those that it reads through a join buffer.

When to dismiss it
    The inner table has a few rows and will not grow.
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

    full_join_ratio: float = threshold(
        0.5, unit=Unit.RATIO, meaning="share of executions with such a join", leave_at=0.4
    )
    seconds: float = threshold(0.001, unit=Unit.SECONDS, meaning="time per execution", leave_at=0.0008)
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
        "https://dev.mysql.com/doc/refman/8.4/en/hash-joins.html",
    ],
)

_ADVICE = (
    "See by EXPLAIN which table is read as a whole (type ALL, Using join buffer or hash join) and index the "
    "columns it is joined by; columns of different types or character sets cannot use one"
)

_FIGURES = (
    ("milliseconds per execution", lambda one: 1000 * one.each(one.total_seconds), Unit.COUNT),
    ("sessions kept busy by executions", lambda one: one.load, Unit.COUNT),
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
                    "Statements that join without an index: {count}; {time} ms each time by {statement}",
                    {
                        "count": Quantity(len(found), Unit.COUNT),
                        "statement": Quantity(first.brief, Unit.TEXT),
                        "time": Quantity(1000 * first.each(first.total_seconds), Unit.COUNT),
                    },
                ),
                evidence=evidence_of(found, _FIGURES),
                proposal=tuple(Investigate(f"{_ADVICE}: {one.place}") for one in found[:NAMED]),
                expected=Message("The inner table is read by its index, row by row as needed."),
                price=(
                    Price(PriceKind.DISK_WRITES, Message("each new index is written with every insert and delete")),
                ),
                would_change_our_mind=Message("An inner table of a few rows."),
            ),
        )
    )


def _is_one(one: Statement, p: Parameters) -> bool:
    return (
        max(one.each(one.full_joins), one.each(one.no_good_index_used)) >= p.full_join_ratio
        and one.each(one.total_seconds) >= p.seconds
        and one.load >= p.load
    )


rule.fires(
    "Two tables joined by a column without an index",
    scene(
        "mysql 8.0.33",
        inspection=inspected(
            digests=[
                made_row(
                    "SELECT * FROM orders JOIN items USING (code)",
                    count=3600,
                    total_seconds=360,
                    rows_examined=72_000_000,
                    rows_sent=3600,
                    full_joins=3600,
                    no_index_used=3600,
                )
            ]
        ),
    ),
)
rule.fires(
    "The same on MariaDB",
    scene(
        "mariadb 10.11.18",
        inspection=inspected(
            digests=[
                made_row(
                    "SELECT * FROM orders JOIN items USING (code)",
                    count=360,
                    total_seconds=50,
                    rows_examined=7_200_000,
                    rows_sent=360,
                    full_joins=360,
                    no_index_used=360,
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
                    "SELECT * FROM orders JOIN items USING (code)",
                    count=3600,
                    total_seconds=360,
                    rows_examined=7_200,
                    rows_sent=3600,
                )
            ]
        ),
    ),
)
rule.passes(
    "Rarely run",
    scene(
        "mariadb 10.11.18",
        inspection=inspected(
            digests=[
                made_row(
                    "SELECT * FROM orders JOIN items USING (code)",
                    count=3,
                    total_seconds=2,
                    rows_examined=90_000,
                    rows_sent=30,
                    full_joins=3,
                )
            ]
        ),
    ),
)
