"""Tables are in a row format that limits their indexes.

Why it matters
    In the formats REDUNDANT and COMPACT an index holds at most 767 bytes of a column: 191 characters of utf8mb4. A
    change to utf8mb4 or a new index over VARCHAR(255) then fails with error 1071 or 1709, at the worst of times. The
    first 768 bytes of each long column stay in the row, so that fewer rows fit into a page.

How it is computed
    InnoDB tables of people's schemas with the format REDUNDANT or COMPACT. DYNAMIC is the default since MySQL 5.7 and
    MariaDB 10.2; older tables keep their format through upgrades.

When to dismiss it
    Small tables of numbers whose indexes will not change.
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
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-row-format.html",
        "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-row-formats/innodb-row-formats-overview",
    ],
)


@rule.check
def check(tables: Tables) -> Finding | Passed:
    found = sorted(
        (one for one in tables.of_engine("innodb") if one.row_format.lower() in ("redundant", "compact")),
        key=lambda one: (-one.bytes, one.place),
    )
    count = Measured("InnoDB tables in an old row format", len(found), Unit.COUNT, None, "information_schema.TABLES")
    if not found:
        return Passed((*tables.measured(), count))
    named = found[:NAMED]
    return Finding(
        (
            Item(
                message=Message(
                    "Tables in an old row format: {count}, such as {table} ({format})",
                    {
                        "count": Quantity(len(found), Unit.COUNT),
                        "table": Quantity(named[0].place, Unit.TEXT),
                        "format": Quantity(named[0].row_format, Unit.TEXT),
                    },
                ),
                evidence=(count, *(table.measured() for table in named)),
                proposal=tuple(
                    SchemaAdvice(
                        table.place, "Rebuild it with ALTER TABLE ... ROW_FORMAT=DYNAMIC when little is written."
                    )
                    for table in named
                ),
                expected=Message("Indexes hold up to 3,072 bytes of a column."),
                price=(Price(PriceKind.DISK_WRITES, Message("each table is rebuilt once")),),
                would_change_our_mind=Message("Tables without long text columns."),
            ),
        )
    )


def _table(row_format: str, engine: str = "InnoDB") -> dict[str, str | None]:
    return {"schema": "shop", "name": "customers", "engine": engine, "row_format": row_format}


rule.fires("COMPACT, from before 5.7", scene("mysql 8.0.33", inspection=inspected(tables=[_table("Compact")])))
rule.fires("REDUNDANT", scene("mariadb 10.11.18", inspection=inspected(tables=[_table("Redundant")])))
rule.passes("DYNAMIC", scene("mysql 8.0.33", inspection=inspected(tables=[_table("Dynamic")])))
rule.passes(
    "Another engine's formats have other limits",
    scene("mariadb 10.11.18", inspection=inspected(tables=[_table("Compact", "MyISAM")])),
)
