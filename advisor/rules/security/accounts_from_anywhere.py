"""Accounts of programs may log in from any machine.

Why it matters
    A program runs on machines that are known. Where its account has % as host, its password is good from everywhere
    that reaches the server: from a laptop with an old copy of the configuration as well. Naming the network costs
    nothing while the server runs.

How it is computed
    Accounts that can log in from any host and are no administrators (those are another rule's), all of them in one
    finding. A server that listens on loopback only passes; one that is run by a cloud is not judged.

When to dismiss it
    A firewall lets only the programs' machines reach the port, or containers get new addresses all the time.
"""

from __future__ import annotations

from advisor.engine.examples import made_account
from advisor.engine.facts.durability import SelfManaged
from advisor.engine.facts.security import Accounts, Administrators, Listening, counted, named
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import inspected, scene
from advisor.mysql.proposal import Investigate

rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/account-names.html",
        "https://mariadb.com/docs/server/reference/sql-statements/account-management-sql-statements/create-user",
    ],
)


@rule.check
def check(admins: Administrators, accounts: Accounts, where: Listening, _own: SelfManaged) -> Finding | Passed:
    exposed = [one for one in accounts.everyone if one.anywhere and one.user and one not in admins.everyone]
    figures = where.measured() + accounts.measured() + named(exposed, "accounts from any host")
    if not exposed or not where.perhaps_beyond_loopback:
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message("Accounts may log in from any machine: {count}", {"count": counted(exposed)}),
                evidence=figures,
                proposal=(
                    Investigate(
                        "Bind each to the network that its programs run in with RENAME USER, such as: RENAME USER "
                        f"{exposed[0].sql_name} TO '{exposed[0].user}'@'10.1.2.%'. Open connections stay."
                    ),
                ),
                expected=Message("A password is of use only where its program runs."),
                price=(Price(PriceKind.OVERHEAD, Message("programs from other places are refused")),),
                would_change_our_mind=Message("A firewall that lets only the programs' machines in."),
            ),
        )
    )


_ROOT = made_account("root", "localhost", administrator="1")
_APP = made_account("app", "%")
rule.fires("One", scene("mysql 8.0.33", inspection=inspected(accounts=[_ROOT, _APP])))
rule.fires(
    "Twelve, in one finding",
    scene(
        "mariadb 10.11.18", inspection=inspected(accounts=[_ROOT, *(made_account(f"app{n}", "%") for n in range(12))])
    ),
)
rule.passes(
    "From one network", scene("mysql 8.0.33", inspection=inspected(accounts=[_ROOT, made_account("app", "10.1.2.%")]))
)
rule.passes(
    "The port is closed to others",
    scene("mariadb 10.11.18", {"bind_address": "127.0.0.1"}, inspection=inspected(accounts=[_ROOT, _APP])),
)
rule.passes(
    "Administrators are another rule's",
    scene("mysql 5.7.22", inspection=inspected(accounts=[made_account("root", "%", administrator="1")])),
)
