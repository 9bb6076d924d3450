"""Aria tables stay broken after a crash.

Why it matters
    MariaDB keeps its own system tables in Aria since 10.4, accounts among them. aria_recover_options = OFF leaves a
    table that cannot be read after a crash as it is: somebody has to repair it by hand, perhaps before anybody can
    log in.

How it is computed
    From the setting alone: aria_recover_options is OFF. The default, BACKUP,QUICK, repairs such a table when it is
    opened and keeps a copy.

When to dismiss it
    Broken tables are to be looked at before anything is changed in them.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class Recovery(Settings):
    """What the server does with an Aria table that is broken."""

    aria_recover_options: str


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mariadb>=10.2"],
    since="0.2",
    references=["https://mariadb.com/docs/server/server-usage/storage-engines/aria/aria-system-variables"],
)


@rule.check
def check(recovery: Recovery) -> Finding | Passed:
    if recovery.aria_recover_options.upper() not in ("OFF", ""):
        return Passed(recovery.measured())
    return Finding(
        (
            Item(
                message=Message("Aria tables, the server's own among them, stay broken after a crash"),
                evidence=recovery.measured(),
                proposal=(SetVariable("aria_recover_options", "BACKUP,QUICK"),),
                expected=Message("A broken table is repaired when it is opened, and a copy of it is kept."),
                price=(Price(PriceKind.DISK, Message("a copy of each table that was repaired")),),
                would_change_our_mind=Message("A wish to look at broken tables before anything is changed."),
            ),
        )
    )


rule.fires(
    "Switched off",
    scene("mariadb 10.11.18", {"aria_recover_options": "OFF"}),
    proposes={"aria_recover_options": "BACKUP,QUICK"},
)
rule.passes("The default", scene("mariadb 10.11.18"))
rule.passes("More than the default", scene("mariadb 10.5.23", {"aria_recover_options": "BACKUP,FORCE"}))
