"""Every new session begins in a transaction that it has to end by itself.

Why it matters
    With autocommit = OFF globally, a client that does not know of it never commits: its changes are lost when it
    disconnects, its locks stay until then, and its first SELECT keeps old row versions from being purged for as long as
    it is connected. Monitoring tools and people at a prompt are such clients.

How it is computed
    From the setting alone: autocommit is OFF globally. It belongs into the sessions of the application that wants it,
    where every driver can set it.

When to dismiss it
    Only one application connects, and it was written for it.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.outcome import Finding, Item, Message, Passed, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.mysql.proposal import Investigate


@dataclass(frozen=True)
class Autocommit(Settings):
    """Whether a session commits each statement by itself when it begins."""

    autocommit: bool


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-autocommit-commit-rollback.html",
        "https://mariadb.com/docs/server/server-management/variables-and-modes/server-system-variables",
    ],
)


@rule.check
def check(setting: Autocommit) -> Finding | Passed:
    if setting.autocommit:
        return Passed(setting.measured())
    return Finding(
        (
            Item(
                message=Message("autocommit = OFF: every session begins in a transaction"),
                evidence=setting.measured(),
                proposal=(
                    Investigate(
                        "Find out which application relies on it, let that one set autocommit for its own sessions, "
                        "and remove it from the option file."
                    ),
                ),
                expected=Message("Clients that know nothing of it neither lose changes nor hold locks."),
                would_change_our_mind=Message("A single application that was written for it."),
            ),
        )
    )


rule.fires("Set on MySQL", scene("mysql 8.0.33", {"autocommit": "OFF"}))
rule.fires("Set on MariaDB", scene("mariadb 10.11.18", {"autocommit": "OFF"}))
rule.passes("The default", scene("mysql 8.0.33"))
rule.passes("The default on MariaDB", scene("mariadb 10.11.18"))
