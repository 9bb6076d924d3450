"""Statements skip thousands of rows to show a page of them.

Why it matters
    LIMIT 10 OFFSET 50000 reads 50,010 rows and throws 50,000 away: each further page costs more than the one before,
    and a crawler that follows all of them reads the table over and over.

How it is computed
    From statement digests: a LIMIT with an offset, 1,000 rows or more read per execution and 50 times as many as were
    sent, and the statement keeps 0.01 sessions busy on average or more.

When to dismiss it
    Nobody leaves the first pages, and the rows are skipped for another reason.
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
    examined_to_sent: float = threshold(50, unit=Unit.COUNT, meaning="rows read for each that was sent", leave_at=40)
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
        "https://dev.mysql.com/doc/refman/8.4/en/limit-optimization.html",
    ],
)

_ADVICE = (
    "Let the next page begin behind the last row of this one (WHERE key > ? ORDER BY key LIMIT ?), or find the "
    "keys of the page in an index first and join their rows"
)

_FIGURES = (
    ("rows read per execution", lambda one: one.each(one.rows_examined), Unit.COUNT),
    ("rows sent per execution", lambda one: one.each(one.rows_sent), Unit.COUNT),
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
                    "Statements that skip most of the rows that they read: {count}; {rows} read each time by "
                    "{statement}",
                    {
                        "count": Quantity(len(found), Unit.COUNT),
                        "statement": Quantity(first.brief, Unit.TEXT),
                        "rows": Quantity(first.each(first.rows_examined), Unit.COUNT),
                    },
                ),
                evidence=evidence_of(found, _FIGURES),
                proposal=tuple(Investigate(f"{_ADVICE}: {one.place}") for one in found[:NAMED]),
                expected=Message("Every page costs as little as the first one."),
                price=(Price(PriceKind.OVERHEAD, Message("pages can no longer be jumped to by their number")),),
                would_change_our_mind=Message("Pages that nobody turns."),
            ),
        )
    )


def _is_one(one: Statement, p: Parameters) -> bool:
    return (
        one.is_paged
        and one.each(one.rows_examined) >= p.examined_rows
        and one.rows_examined >= p.examined_to_sent * one.rows_sent
        and one.load >= p.load
    )


rule.fires(
    "The five-hundredth page",
    scene(
        "mysql 8.0.33",
        inspection=inspected(
            digests=[
                made_row(
                    "SELECT * FROM items ORDER BY id LIMIT ?, ...",
                    total_seconds=360,
                    rows_examined=180_000_000,
                    rows_sent=360_000,
                )
            ]
        ),
    ),
)
rule.fires(
    "An OFFSET on MariaDB",
    scene(
        "mariadb 10.11.18",
        inspection=inspected(
            digests=[
                made_row(
                    "SELECT id FROM items WHERE shop = ? ORDER BY day LIMIT ? OFFSET ?",
                    count=3600,
                    total_seconds=60,
                    rows_examined=18_000_000,
                    rows_sent=36_000,
                )
            ]
        ),
    ),
)
rule.passes(
    "The first pages",
    scene(
        "mysql 8.0.33",
        inspection=inspected(
            digests=[
                made_row(
                    "SELECT * FROM items ORDER BY id LIMIT ?, ...",
                    total_seconds=360,
                    rows_examined=1_800_000,
                    rows_sent=360_000,
                )
            ]
        ),
    ),
)
rule.passes(
    "Behind the last row",
    scene(
        "mariadb 10.11.18",
        inspection=inspected(
            digests=[
                made_row(
                    "SELECT * FROM items WHERE id > ? ORDER BY id LIMIT ?",
                    total_seconds=360,
                    rows_examined=360_000,
                    rows_sent=360_000,
                )
            ]
        ),
    ),
)
