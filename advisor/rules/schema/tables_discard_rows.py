"""Tables throw away every row that is written to them.

Why it matters
    A BLACKHOLE table takes rows and keeps none: a SELECT finds it empty, a backup holds nothing of it, and no error is
    ever raised. Restored from the dump of a relay server, or made while the wanted engine was not there and sql_mode
    allowed another, it loses data in silence.

How it is computed
    Tables of people's schemas with the engine BLACKHOLE.

When to dismiss it
    A server whose only task is to filter or to pass on the binary log.
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
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/blackhole-storage-engine.html",
        "https://mariadb.com/docs/server/server-usage/storage-engines/blackhole",
    ],
)


@rule.check
def check(tables: Tables) -> Finding | Passed:
    found = sorted(tables.of_engine("blackhole"), key=lambda one: one.place)
    count = Measured("BLACKHOLE tables", len(found), Unit.COUNT, None, "information_schema.TABLES")
    if not found:
        return Passed((*tables.measured(), count))
    named = found[:NAMED]
    return Finding(
        (
            Item(
                message=Message(
                    "Tables that keep no row that is written to them: {count}, such as {table}",
                    {"count": Quantity(len(found), Unit.COUNT), "table": Quantity(named[0].place, Unit.TEXT)},
                ),
                evidence=(count,),
                proposal=tuple(
                    SchemaAdvice(
                        table.place,
                        "Make sure that its rows are meant to vanish; else give it an engine (ALTER TABLE ... "
                        "ENGINE=InnoDB) and fetch its rows from a backup or a replica.",
                    )
                    for table in named
                ),
                expected=Message("What is written can be read again."),
                price=(Price(PriceKind.DISK, Message("the rows take room from then on")),),
                would_change_our_mind=Message("A server that only passes on the binary log."),
            ),
        )
    )


def _table(engine: str) -> dict[str, str | None]:
    return {"schema": "shop", "name": "audit", "engine": engine}


rule.fires("A table of a relay server", scene("mysql 8.0.33", inspection=inspected(tables=[_table("BLACKHOLE")])))
rule.fires("The same on MariaDB", scene("mariadb 10.11.18", inspection=inspected(tables=[_table("BLACKHOLE")])))
rule.passes("An InnoDB table", scene("mysql 8.0.33", inspection=inspected(tables=[_table("InnoDB")])))
rule.passes("An InnoDB table on MariaDB", scene("mariadb 10.11.18", inspection=inspected(tables=[_table("InnoDB")])))
