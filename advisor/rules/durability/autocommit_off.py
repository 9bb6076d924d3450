"""New connections open transactions that nobody asked for.

Why it matters
    With autocommit = OFF every statement begins a transaction that lasts until COMMIT. A client that does not expect
    it loses its work when it disconnects, keeps its locks while it idles, and holds back the purge of old row
    versions. Clients that want it so set it for themselves.

How it is computed
    From the setting: the global autocommit is OFF.

When to dismiss it
    All clients come from one application that is written for it.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.mysql.proposal import Investigate


@dataclass(frozen=True)
class Autocommit(Settings):
    """Whether each statement of a new connection is committed by itself."""

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
def check(sessions: Autocommit) -> Finding | Passed:
    if sessions.autocommit:
        return Passed(sessions.measured())
    return Finding(
        (
            Item(
                message=Message("Statements of new connections are not committed by themselves"),
                evidence=sessions.measured(),
                proposal=(
                    Investigate(
                        "Let the application that needs it set autocommit = 0 for its own sessions; then run SET "
                        "GLOBAL autocommit = ON and take the line out of the option file."
                    ),
                ),
                expected=Message("What a client stores stays stored, and its locks end with its statement."),
                price=(
                    Price(
                        PriceKind.WRITE_LATENCY,
                        Message("each statement outside a transaction waits for its own commit"),
                    ),
                ),
                would_change_our_mind=Message("One application, written for it."),
            ),
        )
    )


rule.fires("Switched off for all", scene("mysql 8.0.33", {"autocommit": "OFF"}))
rule.fires("MariaDB", scene("mariadb 10.11.18", {"autocommit": "OFF"}))
rule.passes("The default", scene("mysql 8.0.33"))
rule.passes("The default of MariaDB", scene("mariadb 10.11.18"))
