"""Statements read scattered rows from disk that could be read in the order of their keys.

Why it matters
    A range over a secondary index gives row after row in the index's order, each of them somewhere else in the table: a
    page is read for one row, and read again later. A multi-range read (MRR) gathers the keys, sorts them and reads each
    page once. Measured on MySQL 5.7 with a million rows of ten: a third of the page requests, 15 % less time with all
    of it in memory, more from disk. It does not help where the index covers the statement or a LIMIT stops it early.

How it is computed
    Server-wide rates say that it happens (1,000 rows a second read on in index order, two page requests for each and
    more, 50 pages a second from disk), statement digests say where: ranges by an index, 1,000 rows per execution and
    more, one table, no LIMIT. Not where MRR is on without a look at its cost. A trial of one statement is proposed,
    never a switch for everybody.

When to dismiss it
    A covering index would help more, or the rows lie in the order of the index.
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
    """When scattered reads matter."""

    rows_per_second: float = threshold(1_000, unit=Unit.PER_SECOND, meaning="rows read on in index order", leave_at=700)
    pages_per_row: float = threshold(2, unit=Unit.COUNT, meaning="page requests for each such row", leave_at=1.7)
    disk_reads: float = threshold(50, unit=Unit.PER_SECOND, meaning="pages read from disk", leave_at=35)
    examined_rows: float = threshold(1_000, unit=Unit.COUNT, meaning="rows read per execution", leave_at=800)


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/mrr-optimization.html",
        "https://mariadb.com/docs/server/ha-and-performance/optimization-and-tuning/mariadb-internal-optimizations/multi-range-read-optimization",
    ],
)

_FIGURES = (
    ("rows read per execution", lambda one: one.each(one.rows_examined), Unit.COUNT),
    ("milliseconds per execution", lambda one: 1000 * one.each(one.total_seconds), Unit.COUNT),
)


@rule.check
def check(statements: ExaminedStatements, reads: ReadsByKey, mrr: MultiRangeRead, p: Parameters) -> Finding | Passed:
    figures = reads.measured("handler_read_next", "innodb_buffer_pool_read_requests", "innodb_buffer_pool_reads")
    scattered = (
        reads.handler_read_next >= p.rows_per_second
        and reads.innodb_buffer_pool_read_requests >= p.pages_per_row * reads.handler_read_next
        and reads.innodb_buffer_pool_reads >= p.disk_reads
    )
    found = statements.where(lambda one: _is_one(one, p)) if scattered and not mrr.always else ()
    if not found:
        return Passed((*figures, *mrr.measured()))
    return Finding(
        (
            Item(
                message=Message(
                    "Statements that read scattered rows from disk and may gain by multi-range reads: {count}, first "
                    "{statement}",
                    {
                        "count": Quantity(len(found), Unit.COUNT),
                        "statement": Quantity(found[0].brief, Unit.TEXT),
                    },
                ),
                evidence=(*evidence_of(found, _FIGURES), *figures, *mrr.measured()),
                proposal=tuple(
                    Investigate(
                        f"Try it with multi-range reads, alone and on a copy or at a quiet time ({mrr.hint}), and "
                        f"compare Innodb_buffer_pool_read_requests and the time of both: {one.place}"
                    )
                    for one in found[:NAMED]
                ),
                expected=Message("Each page is read once: up to a third of the page requests, less time from disk."),
                price=(
                    Price(PriceKind.MEMORY, Message("a buffer for row ids in each session that does it")),
                    Price(PriceKind.READ_LATENCY, Message("rows no longer come in the index's order")),
                ),
                would_change_our_mind=Message("A covering index, or rows that lie in the order of the index."),
            ),
        )
    )


def _is_one(one: Statement, p: Parameters) -> bool:
    return (
        one.is_read
        and not one.joins
        and one.range_selects >= 0.5 * one.count
        and one.each(one.no_index_used) < 0.5
        and one.each(one.rows_examined) >= p.examined_rows
        and " LIMIT " not in one.text.upper()
    )


def _load(requests: float, from_disk: float) -> dict[str, float]:
    return {
        "Handler_read_key": 50,
        "Handler_read_next": 50_000,
        "Handler_read_rnd_next": 100,
        "Questions": 40,
        "Innodb_buffer_pool_read_requests": requests,
        "Innodb_buffer_pool_reads": from_disk,
    }


def _ranges(examined: float) -> Inspection:
    text = "SELECT SUM ( price ) FROM orders WHERE day BETWEEN ? AND ?"
    row = made_row(text, total_seconds=1800, rows_examined=36_000 * examined, rows_sent=36_000, range_selects=36_000)
    return inspected(digests=[row])


rule.fires(
    "A range over a date, MRR left to its cost model",
    scene("mysql 8.0.33", counters=_load(150_000, 4_000), inspection=_ranges(5_000), deliberate=True),
)
rule.fires(
    "The same on MariaDB, where MRR is off",
    scene("mariadb 10.11.18", counters=_load(140_000, 900), inspection=_ranges(4_000), deliberate=True),
)
rule.passes(
    "All of it in memory",
    scene("mysql 8.0.33", counters=_load(150_000, 1), inspection=_ranges(5_000), deliberate=True),
)
rule.passes(
    "Rows that lie in the order of the index: many of them on each page",
    scene("mariadb 10.11.18", counters=_load(2_000, 900), inspection=_ranges(4_000), deliberate=True),
)
