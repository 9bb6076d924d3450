"""Every internal temporary table is made on disk at once.

Why it matters
    big_tables = ON is from a time when a temporary table that filled its memory was an error. Servers have long since
    gone on to disk by themselves; with it on, even a temporary table of ten rows is made on disk, and each GROUP BY
    pays for it.

How it is computed
    From the setting alone: big_tables is ON globally. MariaDB calls it deprecated since 10.5, and 12.0 has it no more.

When to dismiss it
    Never with a global ON: a session that knows better can set it for itself.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class BigTables(Settings):
    """Whether temporary tables are made on disk at once."""

    big_tables: bool


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7", "mariadb>=10.2,<12.0"],
    since="0.2",
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/server-system-variables.html",
        "https://mariadb.com/docs/server/server-management/variables-and-modes/server-system-variables",
    ],
)


@rule.check
def check(setting: BigTables) -> Finding | Passed:
    if not setting.big_tables:
        return Passed(setting.measured())
    return Finding(
        (
            Item(
                message=Message("big_tables = ON makes every internal temporary table on disk"),
                evidence=setting.measured(),
                proposal=(SetVariable("big_tables", False),),
                expected=Message("Small temporary tables stay in memory; large ones go to disk by themselves."),
                price=(Price(PriceKind.MEMORY, Message("temporary tables up to tmp_table_size are held in memory")),),
                would_change_our_mind=Message("Nothing that a session could not set for itself."),
            ),
        )
    )


rule.fires("Set on MySQL", scene("mysql 8.0.33", {"big_tables": "ON"}), proposes={"big_tables": False})
rule.fires("Set on MariaDB", scene("mariadb 10.11.18", {"big_tables": "ON"}), proposes={"big_tables": False})
rule.passes("The default", scene("mysql 8.0.33"))
rule.passes("The default on MariaDB", scene("mariadb 10.11.18"))
