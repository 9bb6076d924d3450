"""Tables live in an engine without transactions.

Why it matters
    A crash may leave a MyISAM table broken and a half-done statement in it; a ROLLBACK leaves its rows. Writers lock
    the whole table, so that readers wait for them. A backup of such tables is consistent only while nobody writes, and
    Galera and group replication do not replicate them.

How it is computed
    Tables of people's schemas whose engine is MyISAM, MERGE, Aria, CSV or ARCHIVE. It is a warning where one of them
    holds rows, a notice where all are empty, and a warning anyway under Galera and group replication.

When to dismiss it
    Archives that are written once (ARCHIVE, packed MyISAM), or log tables that may be lost.
"""

from __future__ import annotations

from advisor.engine.facts.schema import NAMED, Replicated, Tables
from advisor.engine.outcome import Finding, Item, Measured, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import inspected, scene
from advisor.engine.units import MIB, Quantity, Unit
from advisor.mysql.proposal import SchemaAdvice

rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/converting-tables-to-innodb.html",
        "https://dev.mysql.com/doc/refman/8.4/en/storage-engines.html",
        "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/converting-tables-from-myisam-to-innodb",
    ],
)


@rule.check
def check(tables: Tables, replicated: Replicated) -> Finding | Passed:
    found = sorted(
        tables.of_engine("myisam", "mrg_myisam", "aria", "csv", "archive"), key=lambda one: (-one.bytes, one.place)
    )
    count = Measured("tables without transactions", len(found), Unit.COUNT, None, "information_schema.TABLES")
    if not found:
        return Passed((*tables.measured(), count))
    named = found[:NAMED]
    cluster = replicated.how in ("a Galera cluster", "group replication")
    text = "Tables in an engine without transactions: {count}, such as {table} ({engine})"
    return Finding(
        (
            Item(
                message=Message(
                    text + "; {how} does not replicate them" if cluster else text,
                    {
                        "count": Quantity(len(found), Unit.COUNT),
                        "table": Quantity(named[0].place, Unit.TEXT),
                        "engine": Quantity(named[0].engine, Unit.TEXT),
                        "how": Quantity(replicated.how, Unit.TEXT),
                    },
                ),
                evidence=(count, *(table.measured() for table in named)),
                proposal=tuple(
                    SchemaAdvice(
                        table.place,
                        f"Convert it from {table.engine} to InnoDB (ALTER TABLE ... ENGINE=InnoDB) after a look at "
                        "statements that rely on table locks or on COUNT(*) without reading rows.",
                    )
                    for table in named
                ),
                severity=None if cluster or any(table.rows for table in found) else Severity.NOTICE,
                expected=Message(
                    "A crash and a ROLLBACK leave whole transactions, and readers do not wait for writers."
                ),
                price=(
                    Price(PriceKind.DISK, Message("InnoDB takes about two times the room of MyISAM")),
                    Price(PriceKind.DISK_WRITES, Message("each table is copied once and cannot be written meanwhile")),
                ),
                would_change_our_mind=Message("Tables that are written once and can be made again."),
            ),
        )
    )


def _table(name: str, engine: str, rows: int) -> dict[str, str | None]:
    return {"schema": "shop", "name": name, "engine": engine, "rows": str(rows), "data_bytes": str(4 * MIB)}


rule.fires(
    "A MyISAM table with rows",
    scene("mysql 5.7.22", inspection=inspected(tables=[_table("log", "MyISAM", 500), _table("orders", "InnoDB", 90)])),
)
rule.fires(
    "Aria forgets a half-done statement no better",
    scene("mariadb 10.11.18", inspection=inspected(tables=[_table("log", "Aria", 12)])),
)
rule.passes("InnoDB only", scene("mysql 5.7.22", inspection=inspected(tables=[_table("orders", "InnoDB", 90)])))
rule.passes(
    "MyRocks has transactions, too",
    scene("mariadb 10.11.18", inspection=inspected(tables=[_table("orders", "ROCKSDB", 90)])),
)
