"""Most of the work is to look up single rows by their key.

Why it matters
    For a row that lies in memory the server parses, plans, checks rights and opens a table: that is most of the cost of
    such a statement. At thousands a second a third of the machine may go into it (measured: SQL took 30 to 40 % of a
    machine for 70,000 look-ups a second, a key-value protocol 5 %). Such look-ups can be made cheaper or kept away.

How it is computed
    Look-ups by key per second (Handler_read_key) of 2,000 and more, about as many as statements, with few rows read on;
    and statement digests of reads with at most 1.05 rows read per execution that make up half of all executions.

When to dismiss it
    The machine has room, and the look-ups are prepared statements over kept connections already.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.facts.digests import NAMED, ExaminedStatements, Statement, evidence_of, made_row
from advisor.engine.facts.optimizer import CacheAdvice, ReadsByKey
from advisor.engine.outcome import Finding, Item, Measured, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import inspected, scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import Quantity, Unit
from advisor.mysql.inspection import Inspection
from advisor.mysql.proposal import Investigate


@dataclass(frozen=True)
class Parameters(Thresholds):
    """When look-ups dominate."""

    keys_per_second: float = threshold(2_000, unit=Unit.PER_SECOND, meaning="look-ups by key", leave_at=1_500)
    keys_per_statement: float = threshold(0.5, unit=Unit.COUNT, meaning="look-ups for each statement", leave_at=0.4)
    next_per_key: float = threshold(0.2, unit=Unit.COUNT, meaning="rows read on for each look-up", leave_at=0.3)
    share: float = threshold(0.5, unit=Unit.RATIO, meaning="share of such statements among all", leave_at=0.4)
    examined_rows: float = threshold(1.05, unit=Unit.COUNT, meaning="rows read per execution at the most")


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.0/en/innodb-memcached.html",
        "https://dev.mysql.com/doc/refman/8.4/en/sql-prepared-statements.html",
        "https://mariadb.com/docs/server/reference/sql-statements/prepared-statements/prepare-statement",
    ],
)

_FIGURES = (
    ("executions per second", lambda one: one.per_second(one.count), Unit.PER_SECOND),
    ("milliseconds per execution", lambda one: 1000 * one.each(one.total_seconds), Unit.COUNT),
)


@rule.check
def check(statements: ExaminedStatements, reads: ReadsByKey, cache: CacheAdvice, p: Parameters) -> Finding | Passed:
    found = sorted(statements.where(lambda one: _is_one(one, p)), key=lambda one: (-one.count, one.digest))
    everything = sum(one.count for one in statements.statements)
    share = sum(one.count for one in found) / everything if everything else 0.0
    figures = (
        *reads.measured("handler_read_key", "handler_read_next", "questions"),
        Measured("look-ups of single rows among all statements", share, Unit.RATIO, None, "digests"),
    )
    if (
        reads.handler_read_key < p.keys_per_second
        or reads.handler_read_key < p.keys_per_statement * reads.questions
        or reads.handler_read_next > p.next_per_key * reads.handler_read_key
        or share < p.share
    ):
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message(
                    "{share} of all statements look up one row by its key (look-ups: {rate}); most of them: "
                    "{statement}",
                    {
                        "share": Quantity(share, Unit.RATIO),
                        "rate": Quantity(reads.handler_read_key, Unit.PER_SECOND),
                        "statement": Quantity(found[0].brief, Unit.TEXT),
                    },
                ),
                evidence=(*figures, *evidence_of(found[:NAMED], _FIGURES)),
                proposal=(Investigate(cache.advice),),
                expected=Message("The same look-ups take a part of the CPU they take now."),
                price=(Price(PriceKind.OVERHEAD, Message("a cache may answer with what was true a moment ago")),),
                would_change_our_mind=Message("A machine with room, and look-ups that are prepared already."),
            ),
        )
    )


def _is_one(one: Statement, p: Parameters) -> bool:
    return (
        one.is_read
        and " WHERE " in one.text.upper()
        and one.each(one.rows_examined) <= p.examined_rows
        and one.each(one.no_index_used) < 0.5
    )


def _load(keys: float, following: float) -> dict[str, float]:
    return {
        "Handler_read_key": keys,
        "Handler_read_next": following,
        "Handler_read_rnd_next": 5,
        "Questions": 9_000,
        "Innodb_buffer_pool_read_requests": 40_000,
        "Innodb_buffer_pool_reads": 0,
    }


def _look_ups(examined: float = 1.0) -> Inspection:
    text = "SELECT value FROM tokens WHERE id = ?"
    count = 32_000_000
    return inspected(
        digests=[
            made_row(text, count=count, total_seconds=1900, rows_examined=examined * count, rows_sent=count),
            made_row("UPDATE tokens SET seen = ? WHERE id = ?", count=400_000, rows_examined=400_000),
        ]
    )


rule.fires(
    "Tokens looked up on MySQL 5.7, which has a plugin for it",
    scene("mysql 5.7.22", counters=_load(9_000, 10), inspection=_look_ups(), deliberate=True),
)
rule.fires(
    "Tokens looked up on MariaDB, which has none",
    scene("mariadb 10.11.18", counters=_load(8_500, 10), inspection=_look_ups(), deliberate=True),
)
rule.passes(
    "A handful a second", scene("mysql 5.7.22", counters=_load(40, 10), inspection=_look_ups(), deliberate=True)
)
rule.passes(
    "Ranges of rows",
    scene("mariadb 10.11.18", counters=_load(9_000, 90_000), inspection=_look_ups(40), deliberate=True),
)
