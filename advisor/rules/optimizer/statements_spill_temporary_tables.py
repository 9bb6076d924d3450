"""Statements write their temporary tables to disk.

Why it matters
    A temporary table that does not fit into memory, or holds columns that memory tables cannot hold, is written to disk
    and read back, for one answer. Bigger limits help against the first cause only, and cost memory in every session; a
    better statement or index helps against both.

How it is computed
    From statement digests: at least half of the executions made a temporary table on disk, 0.1 of them a second or
    more.

When to dismiss it
    A rare report, or a temporary directory in memory.
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

    disk_ratio: float = threshold(0.5, unit=Unit.RATIO, meaning="temporary tables on disk per execution", leave_at=0.4)
    disk_per_second: float = threshold(
        0.1, unit=Unit.PER_SECOND, meaning="temporary tables on disk per second", leave_at=0.08
    )


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/performance-schema-statement-summary-tables.html",
        "https://mariadb.com/docs/server/reference/system-tables/performance-schema/performance-schema-tables/performance-schema-events_statements_summary_by_digest-table",
        "https://dev.mysql.com/doc/refman/8.4/en/internal-temporary-tables.html",
    ],
)

_ADVICE = (
    "See by EXPLAIN why it needs a temporary table: an index in the order of its GROUP BY or ORDER BY, fewer and "
    "shorter columns (no TEXT or BLOB), or two steps"
)

_FIGURES = (
    ("temporary tables on disk per execution", lambda one: one.each(one.tmp_disk_tables), Unit.COUNT),
    ("temporary tables on disk per second", lambda one: one.per_second(one.tmp_disk_tables), Unit.PER_SECOND),
)


@rule.check
def check(statements: Statements, p: Parameters) -> Finding | Passed:
    found = sorted(statements.where(lambda one: _is_one(one, p)), key=lambda one: (-one.tmp_disk_tables, one.digest))
    if not found:
        return Passed(statements.measured())
    first = found[0]
    return Finding(
        (
            Item(
                message=Message(
                    "Statements that write temporary tables to disk: {count}; {rate} by {statement}",
                    {
                        "count": Quantity(len(found), Unit.COUNT),
                        "statement": Quantity(first.brief, Unit.TEXT),
                        "rate": Quantity(first.per_second(first.tmp_disk_tables), Unit.PER_SECOND),
                    },
                ),
                evidence=evidence_of(found, _FIGURES),
                proposal=tuple(Investigate(f"{_ADVICE}: {one.place}") for one in found[:NAMED]),
                expected=Message("The answer is built in memory, or without a temporary table."),
                price=(
                    Price(
                        PriceKind.DISK_WRITES,
                        Message("where an index is added, it is written with every insert and delete"),
                    ),
                ),
                would_change_our_mind=Message("A rare report."),
            ),
        )
    )


def _is_one(one: Statement, p: Parameters) -> bool:
    return one.each(one.tmp_disk_tables) >= p.disk_ratio and one.per_second(one.tmp_disk_tables) >= p.disk_per_second


rule.fires(
    "A grouping over long texts",
    scene(
        "mysql 5.7.22",
        inspection=inspected(
            digests=[
                made_row(
                    "SELECT note , COUNT ( * ) FROM orders GROUP BY note",
                    count=3600,
                    total_seconds=90,
                    tmp_tables=3600,
                    tmp_disk_tables=3600,
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
                    "SELECT note , COUNT ( * ) FROM orders GROUP BY note",
                    count=720,
                    total_seconds=90,
                    tmp_tables=720,
                    tmp_disk_tables=720,
                )
            ]
        ),
    ),
)
rule.passes(
    "In memory",
    scene(
        "mysql 5.7.22",
        inspection=inspected(
            digests=[
                made_row(
                    "SELECT note , COUNT ( * ) FROM orders GROUP BY note", count=3600, total_seconds=90, tmp_tables=3600
                )
            ]
        ),
    ),
)
rule.passes(
    "Once an hour",
    scene(
        "mariadb 10.11.18",
        inspection=inspected(
            digests=[
                made_row(
                    "SELECT note , COUNT ( * ) FROM orders GROUP BY note",
                    count=1,
                    total_seconds=9,
                    tmp_tables=1,
                    tmp_disk_tables=1,
                )
            ]
        ),
    ),
)
