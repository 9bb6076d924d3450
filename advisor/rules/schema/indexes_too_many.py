"""A table has so many indexes that writing it is mostly writing indexes.

Why it matters
    One INSERT changes a page in every index; with twenty of them most of the redo and of the flushing is theirs. The
    optimizer weighs all of them for every statement, dipping into each that could serve.

How it is computed
    More than 15 indexes on one table of people's schemas, primary key included.

When to dismiss it
    A table that is loaded once and then only searched.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from advisor.engine.facts.schema import NAMED, Indexes
from advisor.engine.outcome import Finding, Item, Measured, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import inspected, scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import SchemaAdvice


@dataclass(frozen=True)
class Parameters(Thresholds):
    """How many are too many."""

    indexes: float = threshold(15, unit=Unit.COUNT, meaning="more indexes on one table than this")


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/optimization-indexes.html",
        "https://mariadb.com/docs/server/ha-and-performance/optimization-and-tuning/optimization-and-indexes",
    ],
)


@rule.check
def check(indexes: Indexes, p: Parameters) -> Finding | Passed:
    by_table = Counter(one.place for one in indexes.indexes)
    ordered = sorted(by_table.items(), key=lambda pair: (-pair[1], pair[0]))
    found = [pair for pair in ordered if pair[1] > p.indexes]
    shown = found[:NAMED] or ordered[:1]
    figures = tuple(
        Measured(f"indexes on {place}", count, Unit.COUNT, None, "information_schema.STATISTICS")
        for place, count in shown
    )
    if not found:
        return Passed((*indexes.measured(), *figures))
    return Finding(
        (
            Item(
                message=Message(
                    "Tables with more than {limit} indexes: {count}, such as {table} with {many}",
                    {
                        "count": Quantity(len(found), Unit.COUNT),
                        "limit": Quantity(p.indexes, Unit.COUNT),
                        "table": Quantity(found[0][0], Unit.TEXT),
                        "many": Quantity(found[0][1], Unit.COUNT),
                    },
                ),
                evidence=figures,
                proposal=tuple(
                    SchemaAdvice(
                        place,
                        "Look which of its indexes are read (performance_schema counts it) and which could be one of "
                        "several columns.",
                    )
                    for place, _ in shown
                ),
                expected=Message("Inserts and deletes write fewer pages."),
                price=(Price(PriceKind.READ_LATENCY, Message("a statement that used a dropped index takes another")),),
                would_change_our_mind=Message("A table that is loaded once and then only searched."),
            ),
        )
    )


def _indexes(count: int) -> list[dict[str, str | None]]:
    return [
        {
            "schema": "shop",
            "table": "items",
            "index": f"i{one}",
            "columns": f"c{one}",
            "is_unique": "0",
            "kind": "BTREE",
        }
        for one in range(count)
    ]


rule.fires("Twenty indexes", scene("mysql 8.0.33", inspection=inspected(indexes=_indexes(20))))
rule.fires("Sixteen, just above", scene("mariadb 10.11.18", inspection=inspected(indexes=_indexes(16))))
rule.passes("Fifteen, just not", scene("mysql 8.0.33", inspection=inspected(indexes=_indexes(15))))
rule.passes("Four", scene("mariadb 10.11.18", inspection=inspected(indexes=_indexes(4))))
