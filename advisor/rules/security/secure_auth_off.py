"""Passwords of the form of before 2004 are accepted.

Why it matters
    With secure_auth = OFF accounts may log in with the handshake of before MySQL 4.1: what passes the network is
    enough to find the password, and the stored hash is enough to log in without it.

How it is computed
    From the setting: secure_auth is OFF (MariaDB; MySQL 5.7.5 and later take ON only).

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
class SecureAuth(Settings):
    """Whether the old handshake is refused."""

    secure_auth: bool


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mariadb>=10.2"],
    since="0.2",
    references=["https://mariadb.com/docs/server/server-management/variables-and-modes/server-system-variables"],
)


@rule.check
def check(handshake: SecureAuth) -> Finding | Passed:
    figures = handshake.measured()
    if handshake.secure_auth:
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message("Logins by the handshake of before MySQL 4.1 are accepted"),
                evidence=figures,
                proposal=(
                    Investigate(
                        "Set the passwords of accounts with the plugin mysql_old_password again, then run SET GLOBAL "
                        "secure_auth = ON and take the line out of the option file."
                    ),
                ),
                expected=Message("The old handshake is refused."),
                price=(
                    Price(
                        PriceKind.OVERHEAD,
                        Message("accounts with old hashes cannot log in until their password is set again"),
                    ),
                ),
                would_change_our_mind=Message("A client of before 4.1."),
            ),
        )
    )


rule.fires("Left over from an old option file", scene("mariadb 10.5.23", {"secure_auth": "OFF"}))
rule.passes("The default", scene("mariadb 10.5.23"))
