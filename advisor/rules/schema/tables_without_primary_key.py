"""Tables have no primary key.

Why it matters
    InnoDB stores rows in the order of the primary key. Without one it makes up a row number that no statement can use,
    from a counter that all such tables share. Replication by rows has to find each changed row by reading the table
    (one UPDATE of 10,000 rows may read the whole table 10,000 times on a replica), Galera cannot apply such changes in
    parallel, and group replication refuses to write them.

How it is computed
    From InnoDB's own dictionary: tables whose clustered index is the generated one, so that a NOT NULL unique key
    counts as a primary key. It is a notice on a server that stands alone, a warning where rows are replicated.

When to dismiss it
    A staging table that is filled, read as a whole and emptied, on a server without replicas.
"""

from __future__ import annotations

from advisor.engine.facts.schema import NAMED, KeylessTables, Replicated
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
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-index-types.html",
        "https://dev.mysql.com/doc/refman/8.4/en/group-replication-requirements.html",
        "https://mariadb.com/docs/galera-cluster/reference/mariadb-galera-cluster-known-limitations",
    ],
)


@rule.check
def check(keyless: KeylessTables, replicated: Replicated) -> Finding | Passed:
    count = Measured("tables without a primary key", len(keyless.tables), Unit.COUNT, None, "InnoDB's dictionary")
    if not keyless.tables:
        return Passed((count,))
    named = keyless.tables[:NAMED]
    text = "Tables without a primary key: {count}, such as {table}"
    if replicated.how:
        text += "; this server is part of {how}"
    return Finding(
        (
            Item(
                message=Message(
                    text,
                    {
                        "count": Quantity(len(keyless.tables), Unit.COUNT),
                        "table": Quantity(named[0].place, Unit.TEXT),
                        "how": Quantity(replicated.how, Unit.TEXT),
                    },
                ),
                evidence=(count, *(table.measured() for table in named), *replicated.measured()),
                proposal=tuple(
                    SchemaAdvice(
                        table.place,
                        "Make a column or columns that identify a row its primary key; where there are none, add an "
                        "AUTO_INCREMENT column as primary key (INVISIBLE from MySQL 8.0.23 and MariaDB 10.3 on, so "
                        "that SELECT * and INSERT without column names stay as they are).",
                    )
                    for table in named
                ),
                severity=Severity.WARNING if replicated.how else None,
                expected=Message("Replicas find each changed row by its key, and rows lie in an order that is used."),
                price=(
                    Price(PriceKind.DISK_WRITES, Message("each table is rebuilt once, with writes held up meanwhile")),
                ),
                would_change_our_mind=Message("Tables that are only filled, read as a whole and emptied."),
            ),
        )
    )


_LOG = [{"schema": "shop", "name": "log"}]
rule.fires(
    "A log table without a key on a server that stands alone: a notice",
    scene("mysql 8.0.33", inspection=inspected(keyless_tables=_LOG)),
)
rule.fires(
    "The same on a replica: a warning, with the table's size",
    scene(
        "mariadb 10.11.18",
        role="replica",
        inspection=inspected(
            keyless_tables=_LOG,
            tables=[{"schema": "shop", "name": "log", "engine": "InnoDB", "rows": "2000000"}],
        ),
    ),
)
rule.passes("Every table has a key", scene("mysql 5.7.22", role="source", inspection=inspected(keyless_tables=[])))
rule.passes("Every table has a key, on MariaDB", scene("mariadb 11.8.6", inspection=inspected(keyless_tables=[])))
