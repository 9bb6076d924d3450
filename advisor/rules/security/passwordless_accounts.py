"""Accounts log in without any password.

Why it matters
    Whoever knows the name is in. From the machine itself that is every program and every person with a shell there;
    from elsewhere it is everybody who reaches the port.

How it is computed
    Accounts that log in by a password plugin and have none, and that no certificate is asked of (REQUIRE X509,
    SUBJECT, ISSUER). Left out are locked accounts, roles, accounts of the server itself, the anonymous ones (another
    rule) and those for whom the operating system vouches (unix_socket, auth_socket). Critical where one may come from
    elsewhere. Passwords are never tried.

When to dismiss it
    A machine for tests that nobody else reaches.
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
    without = [one for one in accounts.everyone if one.user and one.by_password and not one.has_password]
    figures = accounts.measured() + named(without, "accounts without a password")
    if not without:
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message("Accounts log in without a password: {count}", {"count": counted(without)}),
                evidence=figures,
                proposal=(
                    Investigate(
                        "Give each of them a password with ALTER USER ... IDENTIFIED BY (root of the machine itself: "
                        "IDENTIFIED WITH auth_socket on MySQL, IDENTIFIED VIA unix_socket on MariaDB), or take it "
                        f"away: {listed(f'DROP USER {one.sql_name}' for one in without)}."
                    ),
                ),
                severity=Severity.CRITICAL if any(not one.local for one in without) else None,
                expected=Message("A name alone lets nobody in."),
                price=(
                    Price(PriceKind.OVERHEAD, Message("programs that use these accounts have to learn the password")),
                ),
                would_change_our_mind=Message("A machine for tests that nobody else reaches."),
            ),
        )
    )


_WITHOUT = {"has_password": "0"}
_APP = made_account("app", "10.1.%")
rule.fires(
    "The administrator of a fresh server, from the machine itself",
    scene("mysql 5.7.22", inspection=inspected(accounts=[_APP, made_account("root", "localhost", **_WITHOUT)])),
)
rule.fires(
    "From anywhere: critical",
    scene("mariadb 10.11.18", inspection=inspected(accounts=[_APP, made_account("report", "%", **_WITHOUT)])),
)
rule.passes("Everybody has one", scene("mysql 5.7.22", inspection=inspected(accounts=[_APP])))
rule.passes(
    "The operating system vouches for root",
    scene(
        "mariadb 10.11.18",
        inspection=inspected(
            accounts=[_APP, {**made_account("root", "localhost", plugin="unix_socket"), "has_password": None}]
        ),
    ),
)
rule.passes(
    "A certificate is asked for",
    scene("mysql 8.0.33", inspection=inspected(accounts=[_APP, made_account("report", "%", **_WITHOUT, tls="X509")])),
)
rule.passes(
    "An account of the server itself",
    scene("mysql 8.0.33", inspection=inspected(accounts=[_APP, made_account("mysql.sys", "localhost", **_WITHOUT)])),
)
