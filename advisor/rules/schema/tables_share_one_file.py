"""New tables go into one file that never shrinks.

Why it matters
    With innodb_file_per_table = OFF every new table is put into the system tablespace. Dropping or rebuilding one gives
    nothing back to the file system: the file only grows, and to make it small means to dump and load everything.

How it is computed
    innodb_file_per_table is OFF. It holds for tables made or rebuilt from now on.

When to dismiss it
    Thousands of tiny tables, whose files would each take room for themselves, on a server where none is dropped.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class FilePerTable(Settings):
    """Whether each new table has its own file."""

    innodb_file_per_table: bool


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-file-per-table-tablespaces.html",
        "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-tablespaces/innodb-file-per-table-tablespaces",
    ],
)


@rule.check
def check(files: FilePerTable) -> Finding | Passed:
    if files.innodb_file_per_table:
        return Passed(files.measured())
    return Finding(
        (
            Item(
                message=Message("New tables go into the system tablespace, which never gives room back"),
                evidence=files.measured(),
                proposal=(SetVariable("innodb_file_per_table", "ON"),),
                expected=Message("A dropped or rebuilt table gives its room back to the file system."),
                price=(Price(PriceKind.OVERHEAD, Message("one more open file for each table in use")),),
                would_change_our_mind=Message("Thousands of tiny tables that stay."),
            ),
        )
    )


rule.fires(
    "Off on MySQL", scene("mysql 8.0.33", {"innodb_file_per_table": "OFF"}), proposes={"innodb_file_per_table": "ON"}
)
rule.fires(
    "Off on MariaDB",
    scene("mariadb 10.11.18", {"innodb_file_per_table": "OFF"}),
    proposes={"innodb_file_per_table": "ON"},
)
rule.passes("On, the default", scene("mysql 8.0.33"))
rule.passes("On, the default of MariaDB", scene("mariadb 10.11.18"))
