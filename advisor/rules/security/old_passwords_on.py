"""New passwords are stored in the form of before 2004.

Why it matters
    With old_passwords = ON, MariaDB's PASSWORD() and SET PASSWORD make 16-digit hashes whose password is found in
    seconds, and every account that changes its password becomes one of those.

How it is computed
    From the setting: old_passwords is ON (MariaDB; MySQL 5.7.5 and later make no such hashes any more).

When to dismiss it
    A client of before MySQL 4.1 still connects, and cannot be replaced.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.mysql.proposal import Investigate


@dataclass(frozen=True)
class OldPasswords(Settings):
    """Whether new hashes are of the old form."""

    old_passwords: bool


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mariadb>=10.2"],
    since="0.2",
    references=["https://mariadb.com/docs/server/server-management/variables-and-modes/server-system-variables"],
)


@rule.check
def check(passwords: OldPasswords) -> Finding | Passed:
    figures = passwords.measured()
    if not passwords.old_passwords:
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message("New passwords are stored as hashes that are broken in seconds"),
                evidence=figures,
                proposal=(
                    Investigate(
                        "Run SET GLOBAL old_passwords = OFF, take the line out of the option file, and set the "
                        "passwords of the accounts with the plugin mysql_old_password again."
                    ),
                ),
                expected=Message("New passwords get a hash of today."),
                price=(
                    Price(PriceKind.OVERHEAD, Message("clients of before MySQL 4.1 cannot log in with new passwords")),
                ),
                would_change_our_mind=Message("A client of before 4.1."),
            ),
        )
    )


rule.fires("Left over from an old option file", scene("mariadb 10.5.23", {"old_passwords": "ON"}))
rule.passes("The default", scene("mariadb 10.5.23"))
