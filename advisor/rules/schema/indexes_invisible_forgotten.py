"""Indexes are hidden from the optimizer and still written.

Why it matters
    An invisible index (MariaDB: an ignored one) is a step before it is dropped: no statement reads it, while every
    INSERT and DELETE still maintains it. Forgotten, it costs for nothing.

How it is computed
    Indexes that are not visible, by the server's dictionary. How long they have been so is told nowhere.

When to dismiss it
    The trial began some days ago and a month's end is awaited.
"""

from __future__ import annotations

from advisor.engine.facts.schema import NAMED, Indexes
from advisor.engine.outcome import Finding, Item, Measured, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import inspected, scene
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import SchemaAdvice

rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=8.0", "mariadb>=10.6"],
    since="0.2",
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/invisible-indexes.html",
        "https://mariadb.com/docs/server/ha-and-performance/optimization-and-tuning/optimization-and-indexes/ignored-indexes",
    ],
)


@rule.check
def check(indexes: Indexes) -> Finding | Passed:
    found = sorted(
        (one for one in indexes.indexes if not one.is_visible), key=lambda one: (-one.rows, one.place, one.name)
    )
    count = Measured("invisible indexes", len(found), Unit.COUNT, None, "information_schema.STATISTICS")
    if not found:
        return Passed((*indexes.measured(), count))
    named = found[:NAMED]
    return Finding(
        (
            Item(
                message=Message(
                    "Indexes that are written and never read, since they are hidden: {count}, such as {index} of "
                    "{table}",
                    {
                        "count": Quantity(len(found), Unit.COUNT),
                        "index": Quantity(named[0].name, Unit.TEXT),
                        "table": Quantity(named[0].place, Unit.TEXT),
                    },
                ),
                evidence=(
                    count,
                    *(
                        Measured(
                            f"{one.place}: {one.name}",
                            ", ".join(one.columns) or "hidden",
                            Unit.TEXT,
                            None,
                            "information_schema.STATISTICS",
                        )
                        for one in named
                    ),
                ),
                proposal=tuple(
                    SchemaAdvice(
                        one.place,
                        f"Drop the index {one.name} if nothing got slower while it was hidden; show it again if it "
                        "did.",
                    )
                    for one in named
                ),
                expected=Message("Inserts and deletes write fewer pages."),
                price=(Price(PriceKind.READ_LATENCY, Message("after the drop it takes a build to have it back")),),
                would_change_our_mind=Message("A trial that has just begun."),
            ),
        )
    )


def _index(visible: bool) -> dict[str, str | None]:
    return {
        "schema": "shop",
        "table": "orders",
        "index": "by_colour",
        "columns": "colour",
        "is_unique": "0",
        "is_visible": "1" if visible else "0",
        "kind": "BTREE",
    }


rule.fires("An invisible index", scene("mysql 8.0.33", inspection=inspected(indexes=[_index(False)])))
rule.fires("An ignored index", scene("mariadb 10.11.18", inspection=inspected(indexes=[_index(False)])))
rule.passes("A visible one", scene("mysql 8.0.33", inspection=inspected(indexes=[_index(True)])))
rule.passes("One that is not ignored", scene("mariadb 10.11.18", inspection=inspected(indexes=[_index(True)])))
