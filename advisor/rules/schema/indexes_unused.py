"""Indexes were never read, for a week and more.

Why it matters
    An index that nobody reads costs as much at every INSERT and DELETE as one that everybody reads, and its pages push
    others out of the buffer pool.

How it is computed
    performance_schema counts reads by index since the server started. After seven days at the least: no read of a
    visible index that is neither the primary key nor unique. Those that another index covers are named by
    schema.indexes-redundant. Tables of less than 10,000 rows are left out where their size is known.

When to dismiss it
    A month's end, a backup check or a yearly report reads it; replicas read it while this server does not; a foreign
    key needs it (the server refuses the drop then).
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.facts.schema import NAMED, Index, IndexReads
from advisor.engine.outcome import Finding, Item, Measured, Message, NotEvaluated, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import inspected, scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import DAY, WEEK, Quantity, Unit
from advisor.engine.wording import seconds_text
from advisor.mysql.proposal import SchemaAdvice
from advisor.mysql.snapshot import Remedy, RemedyKind


@dataclass(frozen=True)
class Parameters(Thresholds):
    """How long nobody must have read an index, and how big its table has to be."""

    counted_seconds: float = threshold(WEEK, unit=Unit.SECONDS, meaning="reads were counted for at least so long")
    rows: float = threshold(10_000, unit=Unit.COUNT, meaning="smaller tables are left out", leave_at=8_000)


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/sys-schema-unused-indexes.html",
        "https://dev.mysql.com/doc/refman/8.4/en/invisible-indexes.html",
        "https://mariadb.com/docs/server/ha-and-performance/optimization-and-tuning/optimization-and-indexes/ignored-indexes",
    ],
)


@rule.check
def check(counted: IndexReads, p: Parameters) -> Finding | Passed | NotEvaluated:
    if counted.indexes and counted.counted_seconds < p.counted_seconds:
        return NotEvaluated(
            (
                Remedy(
                    RemedyKind.WINDOW,
                    "reads by index",
                    f"Needs {seconds_text(p.counted_seconds)} of counting; so far "
                    f"{seconds_text(counted.counted_seconds)}. Inspect it again then.",
                ),
            )
        )
    found = sorted(
        (one for one in counted.indexes if _is_unused(one, counted, p)),
        key=lambda one: (-one.rows, one.place, one.name),
    )
    figures = (
        Measured("indexes that were never read", len(found), Unit.COUNT, None, "performance_schema"),
        Measured("reads were counted for", counted.counted_seconds, Unit.SECONDS, None, "performance_schema"),
    )
    if not found:
        return Passed(figures)
    named = found[:NAMED]
    return Finding(
        (
            Item(
                message=Message(
                    "Indexes that were not read in {time}: {count}, such as {index} of {table}",
                    {
                        "count": Quantity(len(found), Unit.COUNT),
                        "time": Quantity(counted.counted_seconds, Unit.SECONDS),
                        "index": Quantity(named[0].name, Unit.TEXT),
                        "table": Quantity(named[0].place, Unit.TEXT),
                    },
                ),
                evidence=(
                    *figures,
                    *(
                        Measured(f"reads of {one.place}: {one.name}", 0, Unit.COUNT, None, "performance_schema")
                        for one in named
                    ),
                ),
                proposal=tuple(
                    SchemaAdvice(
                        one.place,
                        f"Make the index {one.name} INVISIBLE (MySQL 8.0+) or IGNORED (MariaDB 10.6+), look at the "
                        "replicas' counts, too, and drop it when a month's end has passed without it.",
                    )
                    for one in named
                ),
                expected=Message("Inserts and deletes write fewer pages."),
                price=(Price(PriceKind.READ_LATENCY, Message("a rare statement that needs it reads the whole table")),),
                would_change_our_mind=Message("A rare report that reads it, or replicas that do."),
            ),
        )
    )


def _is_unused(one: Index, counted: IndexReads, p: Parameters) -> bool:
    return (
        one.reads == 0
        and one.is_visible
        and not one.is_unique
        and not one.is_primary
        and (one.place, one.name) not in counted.redundant
        and (one.rows == 0 or one.rows >= p.rows)
    )


def _index(name: str, columns: str, reads: int, unique: bool = False, days: int = 9) -> dict[str, str | None]:
    return {
        "schema": "shop",
        "table": "orders",
        "index": name,
        "columns": columns,
        "is_unique": "1" if unique else "0",
        "is_visible": "1",
        "kind": "BTREE",
        "reads": str(reads),
        "counted_seconds": str(days * DAY),
    }


rule.fires(
    "Nine days without a read",
    scene(
        "mysql 8.0.33",
        inspection=inspected(indexes=[_index("PRIMARY", "id", 900, True), _index("by_colour", "colour", 0)]),
    ),
)
rule.fires(
    "The same on MariaDB with performance_schema",
    scene("mariadb 10.11.18", inspection=inspected(indexes=[_index("by_colour", "colour", 0)])),
)
rule.passes(
    "An index that is read, and a unique one that is not",
    scene(
        "mysql 8.0.33",
        inspection=inspected(indexes=[_index("by_colour", "colour", 12), _index("token", "token", 0, True)]),
    ),
)
rule.passes(
    "Read once in nine days is read",
    scene("mariadb 10.11.18", inspection=inspected(indexes=[_index("by_colour", "colour", 1)])),
)
