"""Clients that reach this server may be asked for their files.

Why it matters
    With local_infile = ON the server takes LOAD DATA LOCAL: a client sends a file of its own machine. Whoever can
    slip SQL into an application may so load the application's own files (its configuration, its keys) into a table
    and read them there. MySQL switched it off by default in 8.0.

How it is computed
    From the settings: local_infile is ON, and the server listens beyond loopback (bind_address). MariaDB and MySQL
    5.7 have it on by default, which is why this is a notice.

When to dismiss it
    A job loads files this way, and its account is the only one with the right to store what it loads.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.facts.security import Listening
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.mysql.proposal import Investigate


@dataclass(frozen=True)
class LocalInfile(Settings):
    """Whether LOAD DATA LOCAL is taken."""

    local_infile: bool


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/load-data-local-security.html",
        "https://mariadb.com/docs/server/server-management/variables-and-modes/server-system-variables",
    ],
)


@rule.check
def check(loading: LocalInfile, where: Listening) -> Finding | Passed:
    figures = loading.measured() + where.measured()
    if not (loading.local_infile and where.beyond_loopback):
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message("LOAD DATA LOCAL is accepted from other machines"),
                evidence=figures,
                proposal=(
                    Investigate(
                        "Ask whether any job uses LOAD DATA LOCAL; if none does, run SET GLOBAL local_infile = OFF "
                        "and put local_infile = OFF into the option file."
                    ),
                ),
                expected=Message("Nobody can load a client's files into a table."),
                price=(Price(PriceKind.OVERHEAD, Message("LOAD DATA LOCAL fails with an error from then on")),),
                would_change_our_mind=Message("A job that loads its files this way."),
            ),
        )
    )


rule.fires("MySQL 5.7's default, on all addresses", scene("mysql 5.7.22", {"bind_address": "*"}))
rule.fires("MariaDB's default, on all addresses", scene("mariadb 10.11.18", {"bind_address": ""}))
rule.fires("Switched on for MySQL 8", scene("mysql 8.0.33", {"local_infile": "ON", "bind_address": "10.1.2.3"}))
rule.passes("Off", scene("mysql 8.0.33", {"local_infile": "OFF", "bind_address": "*"}))
rule.passes("Only the machine itself connects", scene("mariadb 10.11.18", {"bind_address": "127.0.0.1"}))
rule.passes("Only the machine itself connects, MySQL 5.7", scene("mysql 5.7.22", {"bind_address": "127.0.0.1,::1"}))
