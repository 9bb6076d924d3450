"""Tables live in memory and are empty after each restart.

Why it matters
    A MEMORY table loses its rows when the server stops, expected or not. On a source of replicas the first statement on
    it after a restart writes a DELETE to the binary log; a replica that restarts has an empty table where its source
    has rows, and stops at the first change of one (error 1032). Each writer locks the whole table.

How it is computed
    Tables of people's schemas with the engine MEMORY. It is a warning where rows are replicated, else a notice.

When to dismiss it
    A cache that is filled again at start, on a server without replicas.
"""

from __future__ import annotations

from advisor.engine.facts.schema import NAMED, Replicated, Tables
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
        "https://dev.mysql.com/doc/refman/8.4/en/replication-features-memory.html",
        "https://mariadb.com/docs/server/server-usage/storage-engines/memory-storage-engine",
    ],
)


@rule.check
def check(tables: Tables, replicated: Replicated) -> Finding | Passed:
    found = sorted(tables.of_engine("memory"), key=lambda one: (-one.bytes, one.place))
    count = Measured("MEMORY tables", len(found), Unit.COUNT, None, "information_schema.TABLES")
    if not found:
        return Passed((*tables.measured(), count))
    named = found[:NAMED]
    text = "Tables whose rows are lost at a restart: {count}, such as {table}"
    return Finding(
        (
            Item(
                message=Message(
                    text + "; this server is part of {how}" if replicated.how else text,
                    {
                        "count": Quantity(len(found), Unit.COUNT),
                        "table": Quantity(named[0].place, Unit.TEXT),
                        "how": Quantity(replicated.how, Unit.TEXT),
                    },
                ),
                evidence=(count, *(table.measured() for table in named), *replicated.measured()),
                proposal=tuple(
                    SchemaAdvice(
                        table.place,
                        "Make it an InnoDB table: in the buffer pool it is read as fast, and it locks rows only. For "
                        "what one session needs, take a temporary table.",
                    )
                    for table in named
                ),
                severity=Severity.WARNING if replicated.how else None,
                expected=Message("Rows outlive a restart, and replicas stay the same."),
                price=(
                    Price(PriceKind.DISK_WRITES, Message("its changes are written to the redo log and to its file")),
                ),
                would_change_our_mind=Message("A cache that is filled again at every start."),
            ),
        )
    )


def _table(engine: str) -> dict[str, str | None]:
    return {"schema": "shop", "name": "sessions", "engine": engine, "rows": "40"}


rule.fires(
    "A MEMORY table on a server that stands alone: a notice",
    scene("mysql 8.0.33", inspection=inspected(tables=[_table("MEMORY")])),
)
rule.fires(
    "A MEMORY table on a source of replicas: a warning",
    scene("mariadb 10.11.18", role="source", inspection=inspected(tables=[_table("MEMORY")])),
)
rule.passes("The same rows in InnoDB", scene("mysql 8.0.33", inspection=inspected(tables=[_table("InnoDB")])))
rule.passes(
    "The same rows in InnoDB, replicated",
    scene("mariadb 10.11.18", role="source", inspection=inspected(tables=[_table("InnoDB")])),
)
