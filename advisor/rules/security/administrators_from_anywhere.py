"""Administrators may log in from any machine.

Why it matters
    An account that may change every setting, act as anybody or give away its rights needs one thing only to be used
    by somebody else: its password. Where its host is %, that password can be tried and used from every network that
    reaches the server.

How it is computed
    Accounts with SUPER, with what replaced it, or with GRANT OPTION on everything, that can log in from any host.
    Hosts that name a network (10.1.%) do not count. A server that listens on loopback only passes. On a server that
    is run by a cloud its own network rules decide, and nothing is judged.

When to dismiss it
    The server's network can be reached by administrators only.
"""

from __future__ import annotations

from advisor.engine.examples import made_account
from advisor.engine.facts.durability import SelfManaged
from advisor.engine.facts.security import Administrators, Listening, counted, named
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
def check(admins: Administrators, where: Listening, _own: SelfManaged) -> Finding | Passed:
    exposed = [one for one in admins.everyone if one.anywhere]
    figures = where.measured() + named(exposed, "administrators from any host")
    if not exposed or not where.perhaps_beyond_loopback:
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message("Administrators may log in from any machine: {count}", {"count": counted(exposed)}),
                evidence=figures,
                proposal=(
                    Investigate(
                        "See where each of them comes from, then bind it to that with RENAME USER, such as: RENAME "
                        f"USER {exposed[0].sql_name} TO '{exposed[0].user}'@'10.1.2.%'. Keep one session open until a "
                        "login by the new name worked."
                    ),
                ),
                expected=Message("A stolen password is of no use from other networks."),
                price=(Price(PriceKind.OVERHEAD, Message("administrators from other places are refused")),),
                would_change_our_mind=Message("A network that only administrators reach."),
            ),
        )
    )


_APP = made_account("app", "10.1.%")
_ROOT = made_account("root", "%", administrator="1")
rule.fires("root from anywhere", scene("mysql 8.0.33", inspection=inspected(accounts=[_APP, _ROOT])))
rule.fires("root from anywhere on MariaDB", scene("mariadb 10.11.18", inspection=inspected(accounts=[_APP, _ROOT])))
rule.passes(
    "From one network",
    scene("mysql 8.0.33", inspection=inspected(accounts=[_APP, made_account("root", "10.1.%", administrator="1")])),
)
rule.passes(
    "The port is closed to others",
    scene("mariadb 10.11.18", {"bind_address": "127.0.0.1"}, inspection=inspected(accounts=[_APP, _ROOT])),
)
rule.passes("No administrator", scene("mysql 5.7.22", inspection=inspected(accounts=[_APP, made_account("app", "%")])))
