"""Indexes repeat what another index of their table says.

Why it matters
    Each index is written with every INSERT and DELETE, takes room in the buffer pool and is one more choice for the
    optimizer. An index over (a) beside one over (a, b) gives nothing that the longer one does not give.

How it is computed
    The columns of a non-unique B-tree index are the first columns of another visible one of the same table, in the same
    order and with the same prefix lengths, or the same as all of them. Unique indexes are constraints and stay, unless
    a second unique one has the very same columns. The server itself refuses to drop the last index that a foreign key
    needs.

When to dismiss it
    The short index is kept on purpose: it is much smaller than the long one (or than the rows, beside a primary key)
    and a frequent statement counts or scans it.
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
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/multiple-column-indexes.html",
        "https://dev.mysql.com/doc/refman/8.4/en/sys-schema-redundant-indexes.html",
        "https://mariadb.com/docs/server/ha-and-performance/optimization-and-tuning/optimization-and-indexes",
    ],
)


@rule.check
def check(indexes: Indexes) -> Finding | Passed:
    found = indexes.redundant()
    count = Measured("redundant indexes", len(found), Unit.COUNT, None, "information_schema.STATISTICS")
    if not found:
        return Passed((*indexes.measured(), count))
    named = found[:NAMED]
    first, cover = named[0]
    return Finding(
        (
            Item(
                message=Message(
                    "Indexes that repeat another one: {count}, such as {index} of {table}, which {cover} covers",
                    {
                        "count": Quantity(len(found), Unit.COUNT),
                        "index": Quantity(first.name, Unit.TEXT),
                        "table": Quantity(first.place, Unit.TEXT),
                        "cover": Quantity(cover.name, Unit.TEXT),
                    },
                ),
                evidence=(
                    count,
                    *(
                        Measured(
                            f"{index.place}: {index.name} ({', '.join(index.columns)})",
                            f"covered by {other.name} ({', '.join(other.columns)})",
                            Unit.TEXT,
                            None,
                            "information_schema.STATISTICS",
                        )
                        for index, other in named
                    ),
                ),
                proposal=tuple(
                    SchemaAdvice(
                        index.place,
                        f"Drop the index {index.name}: {other.name} does its work. First make it INVISIBLE (MySQL "
                        "8.0+) or IGNORED (MariaDB 10.6+) for some days, so that it can come back at once.",
                    )
                    for index, other in named
                ),
                expected=Message("Inserts and deletes write fewer pages, and the buffer pool holds more of the rest."),
                price=(
                    Price(
                        PriceKind.READ_LATENCY,
                        Message("statements that scan the short index read the longer one instead"),
                    ),
                ),
                would_change_our_mind=Message("A statement that scans the short index all the time."),
            ),
        )
    )


def _index(name: str, columns: str, unique: bool = False) -> dict[str, str | None]:
    return {
        "schema": "shop",
        "table": "orders",
        "index": name,
        "columns": columns,
        "is_unique": "1" if unique else "0",
        "is_visible": "1",
        "kind": "BTREE",
    }


rule.fires(
    "customer beside customer and day",
    scene(
        "mysql 8.0.33",
        inspection=inspected(
            indexes=[
                _index("PRIMARY", "id", True),
                _index("by_customer", "customer_id"),
                _index("by_customer_and_day", "customer_id,day"),
            ]
        ),
    ),
)
rule.fires(
    "The same index twice: one of them goes",
    scene("mariadb 10.11.18", inspection=inspected(indexes=[_index("a", "email(20)"), _index("b", "email(20)")])),
)
rule.passes(
    "A unique key that is the beginning of another index is a constraint",
    scene(
        "mysql 8.0.33",
        inspection=inspected(
            indexes=[
                _index("PRIMARY", "id", True),
                _index("email", "email", True),
                _index("email_and_day", "email,day"),
            ]
        ),
    ),
)
rule.passes(
    "Another order of the columns is another index, and so is another prefix",
    scene(
        "mariadb 10.11.18",
        inspection=inspected(
            indexes=[_index("a", "day"), _index("b", "customer_id,day"), _index("c", "customer_id(10)")]
        ),
    ),
)
