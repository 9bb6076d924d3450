"""CREATE TABLE with options that cannot be had goes through with a warning.

Why it matters
    With innodb_strict_mode = OFF a wrong or conflicting option (a compressed row format that is not possible, an
    index prefix that is too long) is replaced by something else, with a warning that scripts do not read. The table
    is then not what its definition says, and the same statement fails on the next server.

How it is computed
    From the setting: innodb_strict_mode is OFF for new connections.

When to dismiss it
    An old dump has to be loaded that strict mode refuses; set it for that session instead.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class StrictTables(Settings):
    """Whether wrong table options are errors."""

    innodb_strict_mode: bool


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-parameters.html",
        "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-strict-mode",
    ],
)


@rule.check
def check(tables: StrictTables) -> Finding | Passed:
    if tables.innodb_strict_mode:
        return Passed(tables.measured())
    return Finding(
        (
            Item(
                message=Message("Wrong options of CREATE TABLE are replaced instead of refused"),
                evidence=tables.measured(),
                proposal=(SetVariable("innodb_strict_mode", True),),
                expected=Message("A table is what its definition says, or it is not created."),
                price=(
                    Price(PriceKind.OVERHEAD, Message("CREATE and ALTER TABLE with wrong options fail from then on")),
                ),
                would_change_our_mind=Message("An import that needs it, for its session."),
            ),
        )
    )


rule.fires("Switched off", scene("mysql 8.0.33", {"innodb_strict_mode": "OFF"}), proposes={"innodb_strict_mode": True})
rule.fires("MariaDB", scene("mariadb 10.11.18", {"innodb_strict_mode": "OFF"}), proposes={"innodb_strict_mode": True})
rule.passes("The default", scene("mysql 8.0.33"))
rule.passes("The default of MariaDB", scene("mariadb 10.11.18"))
