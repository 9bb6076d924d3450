"""Statements fail again and again.

Why it matters
    A statement that fails has cost its parsing, its locks and a round trip, and somebody did not get what was asked
    for: a duplicate key that the application relies on, a deadlock, a table that is gone, or a time-out.

How it is computed
    From statement digests: at least a tenth of the executions ended with an error, and one in ten seconds or more did.

When to dismiss it
    The application tries an INSERT and takes error 1062 for an answer. INSERT ... ON DUPLICATE KEY UPDATE says the same
    without an error.
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

    error_ratio: float = threshold(0.1, unit=Unit.RATIO, meaning="share of executions that failed", leave_at=0.08)
    errors_per_second: float = threshold(0.1, unit=Unit.PER_SECOND, meaning="errors per second", leave_at=0.08)


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/performance-schema-statement-summary-tables.html",
        "https://mariadb.com/docs/server/reference/system-tables/performance-schema/performance-schema-tables/performance-schema-events_statements_summary_by_digest-table",
        "https://dev.mysql.com/doc/mysql-errors/8.4/en/server-error-reference.html",
    ],
)

_ADVICE = (
    "Find in the application's log which error it gets (MySQL 8 counts them by number in "
    "performance_schema.events_errors_summary_global_by_error), and why"
)

_FIGURES = (
    ("share that failed of the executions", lambda one: one.each(one.errors), Unit.RATIO),
    ("errors per second", lambda one: one.per_second(one.errors), Unit.PER_SECOND),
)


@rule.check
def check(statements: Statements, p: Parameters) -> Finding | Passed:
    found = sorted(statements.where(lambda one: _is_one(one, p)), key=lambda one: (-one.errors, one.digest))
    if not found:
        return Passed(statements.measured())
    first = found[0]
    return Finding(
        (
            Item(
                message=Message(
                    "Statements that often fail: {count}; {share} of the executions of {statement}",
                    {
                        "count": Quantity(len(found), Unit.COUNT),
                        "statement": Quantity(first.brief, Unit.TEXT),
                        "share": Quantity(first.each(first.errors), Unit.RATIO),
                    },
                ),
                evidence=evidence_of(found, _FIGURES),
                proposal=tuple(Investigate(f"{_ADVICE}: {one.place}") for one in found[:NAMED]),
                expected=Message("Whoever asks gets an answer."),
                price=(Price(PriceKind.OVERHEAD, Message("nothing is changed before the plan was looked at")),),
                would_change_our_mind=Message("An application that takes the error for an answer."),
            ),
        )
    )


def _is_one(one: Statement, p: Parameters) -> bool:
    return one.each(one.errors) >= p.error_ratio and one.per_second(one.errors) >= p.errors_per_second


rule.fires(
    "Every second INSERT is a duplicate",
    scene("mysql 8.0.33", inspection=inspected(digests=[made_row("INSERT INTO tokens VALUES (...)", errors=18_000)])),
)
rule.fires(
    "A table that is gone",
    scene(
        "mariadb 10.11.18",
        inspection=inspected(digests=[made_row("SELECT * FROM gone", count=720, total_seconds=1, errors=720)]),
    ),
)
rule.passes(
    "One in a thousand",
    scene("mysql 8.0.33", inspection=inspected(digests=[made_row("INSERT INTO tokens VALUES (...)", errors=36)])),
)
rule.passes(
    "None",
    scene("mariadb 10.11.18", inspection=inspected(digests=[made_row("SELECT * FROM tokens", count=720)])),
)
