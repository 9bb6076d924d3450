"""Accounts are bound to host names that the server does not look up.

Why it matters
    With skip_name_resolve = ON the server compares addresses only. An account such as app@web1.example.com can never
    log in then, and another, wider account may take its place with other rights. It is the usual surprise after
    skip_name_resolve was switched on to save look-ups.

How it is computed
    skip_name_resolve is ON, and accounts that can log in have a host that is neither an address, a network, % nor
    localhost.

When to dismiss it
    The accounts are left over, and nobody misses them; then drop them.
"""

from __future__ import annotations

from advisor.engine.examples import made_account
from advisor.engine.facts.connections import NameLookups
from advisor.engine.facts.security import Accounts, counted, named
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
        "https://dev.mysql.com/doc/refman/8.4/en/host-cache.html",
        "https://mariadb.com/docs/server/server-management/variables-and-modes/server-system-variables",
    ],
)


@rule.check
def check(accounts: Accounts, lookup: NameLookups) -> Finding | Passed:
    by_name = [one for one in accounts.everyone if one.by_name]
    figures = lookup.measured() + named(by_name, "accounts bound to a name")
    if not lookup.skip_name_resolve or not by_name:
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message("Accounts can never log in by their host name: {count}", {"count": counted(by_name)}),
                evidence=figures,
                proposal=(
                    Investigate(
                        f"Bind them to addresses, such as: RENAME USER {by_name[0].sql_name} TO "
                        f"'{by_name[0].user}'@'10.1.2.3'; or look names up again with skip_name_resolve = OFF and a "
                        "restart."
                    ),
                ),
                expected=Message("The accounts log in, with the rights that were meant for them."),
                price=(Price(PriceKind.OVERHEAD, Message("none: nobody can use these accounts now")),),
                would_change_our_mind=Message("Accounts that are left over."),
            ),
        )
    )


_NAME = [made_account("app", "web1.example.com"), made_account("root", "localhost")]
_ADDRESS = [
    made_account("app", "10.1.2.3"),
    made_account("app", "fe80::%"),
    made_account("app", "10.0.0.0/255.0.0.0"),
    made_account("all", "%"),
]
rule.fires(
    "A name that is not looked up",
    scene("mysql 8.0.33", {"skip_name_resolve": "ON"}, inspection=inspected(accounts=_NAME)),
)
rule.fires(
    "The same on MariaDB", scene("mariadb 10.11.18", {"skip_name_resolve": "ON"}, inspection=inspected(accounts=_NAME))
)
rule.passes(
    "Addresses and networks",
    scene("mysql 8.0.33", {"skip_name_resolve": "ON"}, inspection=inspected(accounts=_ADDRESS)),
)
rule.passes(
    "Names are looked up", scene("mariadb 10.11.18", {"skip_name_resolve": "OFF"}, inspection=inspected(accounts=_NAME))
)
