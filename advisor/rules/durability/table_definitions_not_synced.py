"""A table that was just created may be lost in a crash.

Why it matters
    Where table definitions are files (.frm: MySQL 5.7 and MariaDB), sync_frm = OFF leaves them to the operating
    system's cache. After a power failure the rows may be there without the definition that makes them readable.

How it is computed
    From the setting: sync_frm is OFF, which is the default nowhere.

When to dismiss it
    Tables are created and dropped all day long as scratch space, and may be lost.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class Definitions(Settings):
    """Whether a table's definition is on disk before CREATE TABLE returns."""

    sync_frm: bool


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7,<8.0", "mariadb>=10.2"],
    since="0.2",
    references=[
        "https://dev.mysql.com/doc/refman/5.7/en/server-system-variables.html",
        "https://mariadb.com/docs/server/server-management/variables-and-modes/server-system-variables",
    ],
)


@rule.check
def check(definitions: Definitions) -> Finding | Passed:
    if definitions.sync_frm:
        return Passed(definitions.measured())
    return Finding(
        (
            Item(
                message=Message("Table definitions are not synced to disk when they are written"),
                evidence=definitions.measured(),
                proposal=(SetVariable("sync_frm", True),),
                expected=Message("A table that was created is there after a crash."),
                price=(Price(PriceKind.WRITE_LATENCY, Message("CREATE and ALTER TABLE wait for one more sync")),),
                would_change_our_mind=Message("Scratch tables only."),
            ),
        )
    )


rule.fires("Switched off on MySQL 5.7", scene("mysql 5.7.22", {"sync_frm": "OFF"}), proposes={"sync_frm": True})
rule.fires("Switched off on MariaDB", scene("mariadb 10.11.18", {"sync_frm": "OFF"}), proposes={"sync_frm": True})
rule.passes("The default of MySQL 5.7", scene("mysql 5.7.22"))
rule.passes("The default of MariaDB", scene("mariadb 10.11.18"))
