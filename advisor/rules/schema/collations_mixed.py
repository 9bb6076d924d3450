"""Tables of one schema compare text by different collations of one character set.

Why it matters
    A join or a UNION between columns of two collations fails with "Illegal mix of collations" (error 1267), or converts
    one side so that its index cannot be used. It usually comes from an upgrade: MySQL 8 made utf8mb4_0900_ai_ci the
    default where 5.7 tables have utf8mb4_general_ci, MariaDB 11.5 made utf8mb4_uca1400_ai_ci it.

How it is computed
    In one schema, tables of the same character set with more than one collation; binary collations (_bin) are left out,
    since they are chosen on purpose. It goes by the tables' defaults; columns may differ.

When to dismiss it
    The tables are never joined by text, or each collation was chosen for its language.
"""

from __future__ import annotations

from collections import Counter

from advisor.engine.facts.schema import NAMED, Table, Tables
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
        "https://dev.mysql.com/doc/refman/8.4/en/charset-collation-coercibility.html",
        "https://mariadb.com/docs/server/reference/data-types/string-data-types/character-sets/setting-character-sets-and-collations",
    ],
)


@rule.check
def check(tables: Tables) -> Finding | Passed:
    mixes = _mixes(tables.tables)
    count = Measured("schemas with mixed collations", len(mixes), Unit.COUNT, None, "information_schema.TABLES")
    if not mixes:
        return Passed((*tables.measured(), count))
    named = mixes[:NAMED]
    return Finding(
        (
            Item(
                message=Message(
                    "Schemas that mix collations of one character set: {count}, such as {schema} ({collations})",
                    {
                        "count": Quantity(len(mixes), Unit.COUNT),
                        "schema": Quantity(named[0][0], Unit.TEXT),
                        "collations": Quantity(" and ".join(named[0][1]), Unit.TEXT),
                    },
                ),
                evidence=(
                    count,
                    *(
                        Measured(
                            f"collations in {schema}",
                            ", ".join(f"{name}: {one} tables" for name, one in found.items()),
                            Unit.TEXT,
                            None,
                            "information_schema.TABLES",
                        )
                        for schema, found in named
                    ),
                ),
                proposal=tuple(
                    SchemaAdvice(
                        schema,
                        f"Agree on one collation ({next(iter(found))} has most tables), make it the schema's default, "
                        "and convert the other tables to it.",
                    )
                    for schema, found in named
                ),
                expected=Message("Joins over text use their indexes, and none fails with error 1267."),
                price=(Price(PriceKind.DISK_WRITES, Message("each converted table is rebuilt")),),
                would_change_our_mind=Message("Tables that are never joined by text."),
            ),
        )
    )


def _mixes(tables: tuple[Table, ...]) -> list[tuple[str, dict[str, int]]]:
    """Schema and its collations, the most frequent first, where one character set has several."""
    counted: dict[tuple[str, str], Counter[str]] = {}
    for table in tables:
        collation = table.collation
        if collation and not collation.endswith("_bin") and collation != "binary":
            key = (table.schema, collation.split("_", 1)[0])
            counted.setdefault(key, Counter())[collation] += 1
    return [
        (schema, dict(sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))))
        for (schema, _), found in sorted(counted.items())
        if len(found) > 1
    ]


def _table(name: str, collation: str) -> dict[str, str | None]:
    return {"schema": "shop", "name": name, "engine": "InnoDB", "collation": collation}


rule.fires(
    "Tables from before an upgrade beside newer ones",
    scene(
        "mysql 8.0.33",
        inspection=inspected(tables=[_table("a", "utf8mb4_general_ci"), _table("b", "utf8mb4_0900_ai_ci")]),
    ),
)
rule.fires(
    "The same on MariaDB",
    scene(
        "mariadb 11.8.6",
        inspection=inspected(tables=[_table("a", "utf8mb4_general_ci"), _table("b", "utf8mb4_uca1400_ai_ci")]),
    ),
)
rule.passes(
    "One collation, and one table compared byte by byte on purpose",
    scene(
        "mysql 8.0.33",
        inspection=inspected(tables=[_table("a", "utf8mb4_0900_ai_ci"), _table("b", "utf8mb4_bin")]),
    ),
)
rule.passes(
    "Two character sets are another matter",
    scene(
        "mariadb 11.8.6",
        inspection=inspected(tables=[_table("a", "latin1_swedish_ci"), _table("b", "utf8mb4_uca1400_ai_ci")]),
    ),
)
