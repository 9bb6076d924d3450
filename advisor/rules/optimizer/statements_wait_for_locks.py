"""Statements spend much of their time waiting for locks.

Why it matters
    They are slow because of each other, not because of their work: a faster disk or a better index elsewhere changes
    nothing. Long transactions, hot rows and table locks make the queue.

How it is computed
    From statement digests: at least 30 % of a statement's time was lock time, and 0.05 sessions or more waited at any
    moment on average. Lock time is that of table locks and, on MySQL 8.0.28 and newer alone, of row locks: MariaDB and
    older versions leave waits for rows out (measured on eight versions).

When to dismiss it
    A nightly job that may wait, or a queue whose readers are meant to take turns.
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

    lock_ratio: float = threshold(0.3, unit=Unit.RATIO, meaning="share of its time that it waited", leave_at=0.25)
    waiting: float = threshold(0.05, unit=Unit.COUNT, meaning="sessions that wait on average", leave_at=0.04)


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/performance-schema-statement-summary-tables.html",
        "https://mariadb.com/docs/server/reference/system-tables/performance-schema/performance-schema-tables/performance-schema-events_statements_summary_by_digest-table",
        "https://dev.mysql.com/doc/refman/8.4/en/internal-locking.html",
    ],
)

_ADVICE = (
    "Find who holds the lock while it waits (sys.innodb_lock_waits, SHOW ENGINE INNODB STATUS; for tables: who "
    "locks them, and whether they are InnoDB), and make that transaction shorter"
)

_FIGURES = (
    (
        "share of time spent waiting for locks",
        lambda one: one.lock_seconds / max(one.total_seconds, 0.000001),
        Unit.RATIO,
    ),
    ("sessions waiting on average", lambda one: one.per_second(one.lock_seconds), Unit.COUNT),
)


@rule.check
def check(statements: Statements, p: Parameters) -> Finding | Passed:
    found = sorted(statements.where(lambda one: _is_one(one, p)), key=lambda one: (-one.lock_seconds, one.digest))
    if not found:
        return Passed(statements.measured())
    first = found[0]
    return Finding(
        (
            Item(
                message=Message(
                    "Statements that wait for locks for much of their time: {count}; {share} of the time of "
                    "{statement}",
                    {
                        "count": Quantity(len(found), Unit.COUNT),
                        "statement": Quantity(first.brief, Unit.TEXT),
                        "share": Quantity(first.lock_seconds / max(first.total_seconds, 0.000001), Unit.RATIO),
                    },
                ),
                evidence=evidence_of(found, _FIGURES),
                proposal=tuple(Investigate(f"{_ADVICE}: {one.place}") for one in found[:NAMED]),
                expected=Message("Sessions work instead of waiting for each other."),
                price=(Price(PriceKind.OVERHEAD, Message("nothing is changed before the plan was looked at")),),
                would_change_our_mind=Message("A job that may wait."),
            ),
        )
    )


def _is_one(one: Statement, p: Parameters) -> bool:
    return one.lock_seconds >= p.lock_ratio * one.total_seconds and one.per_second(one.lock_seconds) >= p.waiting


rule.fires(
    "A counter that everybody raises",
    scene(
        "mysql 8.0.33",
        inspection=inspected(
            digests=[made_row("UPDATE counters SET n = n + ? WHERE id = ?", total_seconds=3600, lock_seconds=3000)]
        ),
    ),
)
rule.fires(
    "A table lock",
    scene(
        "mariadb 10.11.18",
        inspection=inspected(digests=[made_row("INSERT INTO log VALUES (...)", total_seconds=900, lock_seconds=600)]),
    ),
)
rule.passes(
    "It works most of the time",
    scene(
        "mysql 8.0.33",
        inspection=inspected(
            digests=[made_row("UPDATE counters SET n = n + ? WHERE id = ?", total_seconds=3600, lock_seconds=90)]
        ),
    ),
)
rule.passes(
    "It waits for most of a very short time",
    scene(
        "mariadb 10.11.18",
        inspection=inspected(digests=[made_row("INSERT INTO log VALUES (...)", total_seconds=9, lock_seconds=6)]),
    ),
)
