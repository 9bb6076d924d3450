"""Tables keep text in utf8mb3, which cannot hold every character.

Why it matters
    utf8mb3 (which was called utf8) has at most three bytes a character: emoji and rare Chinese characters are refused
    under a strict sql_mode, and cut off without one. Between such a column and a utf8mb4 one an index cannot be used
    for a join on older versions. MySQL 8 deprecates the character set.

How it is computed
    Tables of people's schemas whose default collation is one of utf8mb3 (spelled utf8_... on older versions). Columns
    may have another one; the table's is what new columns get.

When to dismiss it
    The columns hold codes and names of machines only.
"""

from __future__ import annotations

from advisor.engine.facts.schema import NAMED, Tables
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
        "https://dev.mysql.com/doc/refman/8.4/en/charset-unicode-conversion.html",
        "https://mariadb.com/docs/server/reference/data-types/string-data-types/character-sets/unicode",
    ],
)


@rule.check
def check(tables: Tables) -> Finding | Passed:
    found = sorted(
        (one for one in tables.tables if one.collation.startswith(("utf8_", "utf8mb3_"))),
        key=lambda one: (-one.bytes, one.place),
    )
    count = Measured("tables in utf8mb3", len(found), Unit.COUNT, None, "information_schema.TABLES")
    if not found:
        return Passed((*tables.measured(), count))
    named = found[:NAMED]
    return Finding(
        (
            Item(
                message=Message(
                    "Tables that keep text in utf8mb3: {count}, such as {table} ({collation})",
                    {
                        "count": Quantity(len(found), Unit.COUNT),
                        "table": Quantity(named[0].place, Unit.TEXT),
                        "collation": Quantity(named[0].collation, Unit.TEXT),
                    },
                ),
                evidence=(count, *(table.measured() for table in named)),
                proposal=tuple(
                    SchemaAdvice(
                        table.place,
                        "Convert it (ALTER TABLE ... CONVERT TO CHARACTER SET utf8mb4), all tables that are joined "
                        "with it in the same go, and see first that indexes over long columns still fit: a character "
                        "counts four bytes instead of three.",
                    )
                    for table in named
                ),
                expected=Message("Every character can be stored, and joins compare like with like."),
                price=(Price(PriceKind.DISK_WRITES, Message("each table is rebuilt, and is not written meanwhile")),),
                would_change_our_mind=Message("Columns that will only ever hold plain codes."),
            ),
        )
    )


def _table(collation: str) -> dict[str, str | None]:
    return {"schema": "shop", "name": "customers", "engine": "InnoDB", "collation": collation}


rule.fires(
    "utf8_general_ci, as 5.7 spells it",
    scene("mysql 5.7.22", inspection=inspected(tables=[_table("utf8_general_ci")])),
)
rule.fires(
    "utf8mb3_general_ci, as newer versions spell it",
    scene("mariadb 10.11.18", inspection=inspected(tables=[_table("utf8mb3_general_ci")])),
)
rule.passes("utf8mb4", scene("mysql 5.7.22", inspection=inspected(tables=[_table("utf8mb4_general_ci")])))
rule.passes(
    "latin1 is a choice, not a trap",
    scene("mariadb 10.11.18", inspection=inspected(tables=[_table("latin1_swedish_ci")])),
)
