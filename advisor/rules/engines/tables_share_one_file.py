"""New InnoDB tables are put into the system tablespace.

Why it matters
    With innodb_file_per_table off all new tables share one file that never gives space back: a table that is dropped or
    emptied leaves room only for others in the same file, a single table cannot be moved or restored by itself, and
    newer row formats are not to be had on old versions.

How it is computed
    From the setting: innodb_file_per_table is OFF. Tables that exist stay where they are until they are rebuilt.

When to dismiss it
    There are tens of thousands of tiny tables, and the number of files is what hurts.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.facts.redo import OwnRedoLog
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class Files(Settings):
    """Whether each table has a file of its own."""

    innodb_file_per_table: bool


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-file-per-table-tablespaces.html",
        "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-system-variables",
    ],
)


@rule.check
def check(files: Files, _log: OwnRedoLog) -> Finding | Passed:
    if files.innodb_file_per_table:
        return Passed(files.measured())
    return Finding(
        (
            Item(
                message=Message("New InnoDB tables share one file that never gets smaller"),
                evidence=files.measured(),
                proposal=(SetVariable("innodb_file_per_table", True),),
                expected=Message("A table that is dropped or rebuilt gives its space back."),
                price=(Price(PriceKind.DISK, Message("one file for each table that is created from then on")),),
                would_change_our_mind=Message("Tens of thousands of tables."),
            ),
        )
    )


rule.fires(
    "One file for all",
    scene("mysql 8.0.33", {"innodb_file_per_table": "OFF"}),
    proposes={"innodb_file_per_table": True},
)
rule.fires(
    "The same on MariaDB",
    scene("mariadb 10.11.18", {"innodb_file_per_table": "OFF"}),
    proposes={"innodb_file_per_table": True},
)
rule.passes("The default", scene("mysql 5.7.22"))
rule.passes("The default of MariaDB", scene("mariadb 11.8.6"))
