"""Statements send many thousands of rows at a time.

Why it matters
    Nobody reads 10,000 rows on a page: they are built, sent over the network and held in the client's memory to be
    filtered or counted there. The server keeps its snapshot meanwhile, so that purge waits where the client is slow.

How it is computed
    From statement digests: at least 10,000 rows sent per execution, and the statement keeps 0.01 sessions busy on
    average or more.

When to dismiss it
    An export, or a cache that is filled now and then.
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

    sent_rows: float = threshold(10_000, unit=Unit.COUNT, meaning="rows sent per execution", leave_at=8_000)
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
    "See what the client does with so many rows: let the server filter, sum or page them (WHERE key > ? ORDER BY "
    "key LIMIT ?, not OFFSET)"
)

_FIGURES = (
    ("rows sent per execution", lambda one: one.each(one.rows_sent), Unit.COUNT),
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
                    "Statements that send many rows at a time: {count}; {rows} each time by {statement}",
                    {
                        "count": Quantity(len(found), Unit.COUNT),
                        "statement": Quantity(first.brief, Unit.TEXT),
                        "rows": Quantity(first.each(first.rows_sent), Unit.COUNT),
                    },
                ),
                evidence=evidence_of(found, _FIGURES),
                proposal=tuple(Investigate(f"{_ADVICE}: {one.place}") for one in found[:NAMED]),
                expected=Message("Fewer rows travel, and answers come sooner."),
                price=(Price(PriceKind.OVERHEAD, Message("nothing is changed before the plan was looked at")),),
                would_change_our_mind=Message("An export, or a cache that is filled now and then."),
            ),
        )
    )


def _is_one(one: Statement, p: Parameters) -> bool:
    return one.each(one.rows_sent) >= p.sent_rows and one.load >= p.load


rule.fires(
    "20,000 rows each second",
    scene(
        "mysql 8.0.33",
        inspection=inspected(
            digests=[
                made_row(
                    "SELECT * FROM items", count=3600, total_seconds=90, rows_examined=72_000_000, rows_sent=72_000_000
                )
            ]
        ),
    ),
)
rule.fires(
    "50,000 rows every ten seconds",
    scene(
        "mariadb 10.11.18",
        inspection=inspected(
            digests=[
                made_row(
                    "SELECT id FROM items WHERE shop = ?",
                    count=360,
                    total_seconds=60,
                    rows_examined=18_000_000,
                    rows_sent=18_000_000,
                )
            ]
        ),
    ),
)
rule.passes(
    "A page of fifty rows",
    scene(
        "mysql 8.0.33",
        inspection=inspected(
            digests=[
                made_row(
                    "SELECT * FROM items WHERE id > ? LIMIT ?",
                    total_seconds=90,
                    rows_examined=1_800_000,
                    rows_sent=1_800_000,
                )
            ]
        ),
    ),
)
rule.passes(
    "An export once an hour",
    scene(
        "mariadb 10.11.18",
        inspection=inspected(
            digests=[
                made_row("SELECT * FROM items", count=1, total_seconds=9, rows_examined=2_000_000, rows_sent=2_000_000)
            ]
        ),
    ),
)
