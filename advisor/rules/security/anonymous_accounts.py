"""Accounts without a name let anybody in.

Why it matters
    An account whose user is empty matches every name that has no better match. Without a password that is everybody
    who reaches the server; and since hosts are compared before names, ''@localhost even takes the place of app@'%'
    for whoever connects from the machine itself, which shows as "access denied" for a right password.

How it is computed
    Accounts with an empty user name that can log in by a password or by none; an anonymous account that only maps
    users of a directory (an authentication plugin) is left out. Critical where one has no password and may come from
    elsewhere.

When to dismiss it
    Never on a server with data of anybody's.
"""

from __future__ import annotations

from advisor.engine.examples import made_account
from advisor.engine.facts.security import Accounts, counted, listed, named
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import inspected, scene
from advisor.mysql.proposal import Investigate

rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/account-names.html",
        "https://mariadb.com/docs/server/reference/sql-statements/account-management-sql-statements/create-user",
    ],
)


@rule.check
def check(accounts: Accounts) -> Finding | Passed:
    anonymous = [one for one in accounts.everyone if not one.user and one.by_password]
    figures = accounts.measured() + named(anonymous, "anonymous accounts")
    if not anonymous:
        return Passed(figures)
    open_to_all = any(not one.has_password and not one.local for one in anonymous)
    return Finding(
        (
            Item(
                message=Message("Accounts without a user name can log in: {count}", {"count": counted(anonymous)}),
                evidence=figures,
                proposal=(
                    Investigate(
                        "See by the process list that nobody uses them, then run, for each of them: "
                        f"{listed(f'DROP USER {one.sql_name}' for one in anonymous)}."
                    ),
                ),
                severity=Severity.CRITICAL if open_to_all else None,
                expected=Message("Who has no account is refused, and who has one gets his own."),
                price=(Price(PriceKind.OVERHEAD, Message("whoever came in without a name is refused")),),
                would_change_our_mind=Message("A server that holds nothing of anybody's."),
            ),
        )
    )


_WITHOUT = {"has_password": "0"}
_APP = made_account("app", "10.1.%")
rule.fires(
    "Left over from an installation",
    scene("mariadb 10.2.11", inspection=inspected(accounts=[_APP, made_account("", "localhost", **_WITHOUT)])),
)
rule.fires(
    "Open to all: critical",
    scene("mysql 8.0.33", inspection=inspected(accounts=[_APP, made_account("", "%", **_WITHOUT)])),
)
rule.passes("None", scene("mysql 8.0.33", inspection=inspected(accounts=[_APP])))
rule.passes(
    "One that maps users of a directory",
    scene("mariadb 10.11.18", inspection=inspected(accounts=[_APP, made_account("", "%", plugin="pam")])),
)
rule.passes(
    "Locked",
    scene("mysql 9.7.4", inspection=inspected(accounts=[_APP, made_account("", "%", **_WITHOUT, locked="1")])),
)
