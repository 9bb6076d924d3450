"""Joins look up scattered rows from disk one by one that could be looked up in batches.

Why it matters
    For each row of the outer table a join looks up the inner one by its key, wherever that lies. Batched key access
    (BKA) gathers keys in the join buffer, hands them over as one multi-range read, and the rows are fetched in the
    order in which they lie: on data beyond the buffer pool that saves most of the reads.

How it is computed
    Server-wide rates say that it happens (1,000 look-ups a second and more, fewer rows read on than looked up, 50 pages
    a second from disk), statement digests say where: joins with 1,000 rows per execution and more, without a full join
    and without LIMIT. Not where BKA is on for everybody. A trial of one statement is proposed.

When to dismiss it
    The inner table fits into the buffer pool after all, or the order of the outer table is needed.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.facts.digests import NAMED, ExaminedStatements, Statement, evidence_of, made_row
from advisor.engine.facts.optimizer import MultiRangeRead, ReadsByKey
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import inspected, scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import Quantity, Unit
from advisor.mysql.inspection import Inspection
from advisor.mysql.proposal import Investigate


@dataclass(frozen=True)
class Parameters(Thresholds):
    """When look-ups from disk matter."""

    keys_per_second: float = threshold(1_000, unit=Unit.PER_SECOND, meaning="look-ups by key", leave_at=700)
    disk_reads: float = threshold(50, unit=Unit.PER_SECOND, meaning="pages read from disk", leave_at=35)
    examined_rows: float = threshold(1_000, unit=Unit.COUNT, meaning="rows read per execution", leave_at=800)


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/bnl-bka-optimization.html",
        "https://mariadb.com/docs/server/ha-and-performance/optimization-and-tuning/query-optimizer/block-based-join-algorithms",
    ],
)

_FIGURES = (
    ("rows read per execution", lambda one: one.each(one.rows_examined), Unit.COUNT),
    ("milliseconds per execution", lambda one: 1000 * one.each(one.total_seconds), Unit.COUNT),
)


@rule.check
def check(statements: ExaminedStatements, reads: ReadsByKey, mrr: MultiRangeRead, p: Parameters) -> Finding | Passed:
    figures = reads.measured("handler_read_key", "handler_read_next", "innodb_buffer_pool_reads")
    scattered = (
        reads.handler_read_key >= p.keys_per_second
        and reads.handler_read_next <= 2 * reads.handler_read_key
        and reads.innodb_buffer_pool_reads >= p.disk_reads
    )
    found = statements.where(lambda one: _is_one(one, p)) if scattered and not mrr.key_access else ()
    if not found:
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message(
                    "Joins that look up rows from disk one by one and may gain by batched key access: {count}, first "
                    "{statement}",
                    {
                        "count": Quantity(len(found), Unit.COUNT),
                        "statement": Quantity(found[0].brief, Unit.TEXT),
                    },
                ),
                evidence=(*evidence_of(found, _FIGURES), *figures),
                proposal=tuple(
                    Investigate(
                        f"Try it with batched key access, alone ({mrr.key_access_hint}), with a join_buffer_size of a "
                        "few megabytes in that session, and compare the reads from disk and the time of both: "
                        f"{one.place}"
                    )
                    for one in found[:NAMED]
                ),
                expected=Message("Pages of the inner table are read once for many rows of the outer one."),
                price=(Price(PriceKind.MEMORY, Message("a join buffer in each session that does it")),),
                would_change_our_mind=Message("An inner table that fits into the buffer pool."),
            ),
        )
    )


def _is_one(one: Statement, p: Parameters) -> bool:
    return (
        one.is_read
        and one.joins
        and one.full_joins == 0
        and one.each(one.rows_examined) >= p.examined_rows
        and " LIMIT " not in one.text.upper()
    )


def _load(from_disk: float) -> dict[str, float]:
    return {
        "Handler_read_key": 20_000,
        "Handler_read_next": 2_000,
        "Handler_read_rnd_next": 20_000,
        "Questions": 10,
        "Innodb_buffer_pool_read_requests": 90_000,
        "Innodb_buffer_pool_reads": from_disk,
    }


def _join(executions: float = 36_000) -> Inspection:
    text = "SELECT SUM ( i . price ) FROM orders o JOIN items i ON i . id = o . item_id"
    row = made_row(text, count=executions, total_seconds=3000, rows_examined=72_000_000, rows_sent=executions)
    return inspected(digests=[row])


rule.fires(
    "A join whose inner table is on disk",
    scene("mysql 8.0.33", counters=_load(3_000), inspection=_join(), deliberate=True),
)
rule.fires("The same on MariaDB", scene("mariadb 10.11.18", counters=_load(700), inspection=_join(), deliberate=True))
rule.passes(
    "The inner table is in memory",
    scene("mysql 8.0.33", counters=_load(2), inspection=_join(), deliberate=True),
)
rule.passes(
    "A few rows each time",
    scene("mariadb 10.11.18", counters=_load(700), inspection=_join(7_200_000), deliberate=True),
)
