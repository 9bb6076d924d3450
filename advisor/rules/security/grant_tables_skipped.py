"""Everybody may do everything: accounts are not looked at.

Why it matters
    skip_grant_tables is for setting a lost password, and for nothing else. While it is on whoever reaches the server
    is its administrator, without a password; account statements do not work, and events do not run.

How it is computed
    skip_grant_tables is ON (MariaDB shows it from 10.6 on), or the server refuses SHOW GRANTS for this very reason.

When to dismiss it
    A password is being set at this moment, and nobody else reaches the machine.
"""

from __future__ import annotations

from advisor.engine.facts.security import GrantTables
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.mysql.proposal import Investigate
from advisor.mysql.snapshot import ProbeResult, ProbeState

rule = Rule(
    __name__,
    severity=Severity.CRITICAL,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/server-options.html",
        "https://mariadb.com/docs/server/server-management/starting-and-stopping-mariadb/mariadbd-options",
    ],
)


@rule.check
def check(tables: GrantTables) -> Finding | Passed:
    figures = tables.measured()
    if not tables.skipped:
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message("The server runs with skip_grant_tables: everybody is its administrator"),
                evidence=figures,
                proposal=(
                    Investigate(
                        "Set the password that was lost, take skip-grant-tables out of the option file or the "
                        "service unit, and restart; then look through the accounts for some that were added."
                    ),
                ),
                expected=Message("Accounts and privileges count again."),
                price=(Price(PriceKind.RESTART, Message("the option is read at the start only")),),
                would_change_our_mind=Message("A password that is being set right now."),
            ),
        )
    )


_REFUSED = ProbeResult(
    "grants",
    ProbeState.FAILED,
    reason="The MySQL server is running with the --skip-grant-tables option so it cannot execute this statement.",
)
_READ = ProbeResult("grants", ProbeState.OK, rows=1)
rule.fires("MariaDB shows it", scene("mariadb 10.11.18", {"skip_grant_tables": "ON"}))
rule.fires("MySQL only refuses SHOW GRANTS", scene("mysql 8.0.33", probes=[_REFUSED]))
rule.passes("MariaDB as usual", scene("mariadb 10.11.18"))
rule.passes("MySQL as usual", scene("mysql 8.0.33", probes=[_READ]))
