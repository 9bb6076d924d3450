"""Notes are kept from whoever runs statements.

Why it matters
    With sql_notes = OFF a server no longer tells that CREATE TABLE IF NOT EXISTS met another table, that DROP ... IF
    EXISTS found nothing, or that a value was cut: deployments go wrong in silence. Dump files switch it off for
    themselves and on again; where it is off globally, one of them did not come to its end or someone copied the line.

How it is computed
    From the setting alone: sql_notes is OFF globally.

When to dismiss it
    A client cannot cope with notes, and cannot set it for its own session.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class Notes(Settings):
    """Whether notes are recorded."""

    sql_notes: bool


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/server-system-variables.html",
        "https://mariadb.com/docs/server/server-management/variables-and-modes/server-system-variables",
    ],
)


@rule.check
def check(setting: Notes) -> Finding | Passed:
    if setting.sql_notes:
        return Passed(setting.measured())
    return Finding(
        (
            Item(
                message=Message("Notes are suppressed for every session (sql_notes = OFF)"),
                evidence=setting.measured(),
                proposal=(SetVariable("sql_notes", True),),
                expected=Message("Statements tell what they did not do."),
                price=(Price(PriceKind.OVERHEAD, Message("nothing that was ever measured")),),
                would_change_our_mind=Message("A client that cannot cope with notes."),
            ),
        )
    )


rule.fires("Set on MySQL", scene("mysql 8.0.33", {"sql_notes": "OFF"}), proposes={"sql_notes": True})
rule.fires("Set on MariaDB", scene("mariadb 10.11.18", {"sql_notes": "OFF"}), proposes={"sql_notes": True})
rule.passes("The default", scene("mysql 8.0.33"))
rule.passes("The default on MariaDB", scene("mariadb 10.11.18"))
