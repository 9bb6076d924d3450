"""New accounts get a way of storing passwords that is on its way out.

Why it matters
    mysql_native_password keeps an unsalted SHA-1 of a SHA-1: two accounts with one password show it, and a stolen
    table is searched at billions of tries per second. MySQL 8.4 does not load it by default and 9.0 does not have it,
    so that each account that is made today has to be changed before the upgrade. sha256_password is deprecated as
    well.

How it is computed
    The first factor of authentication_policy, or else default_authentication_plugin, is mysql_native_password or
    sha256_password (MySQL 8.0 and later, whose default is caching_sha2_password).

When to dismiss it
    A client library that cannot be replaced yet knows nothing newer.
"""

from __future__ import annotations

from advisor.engine.facts.security import DefaultPlugin
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import Investigate

rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=8.0"],
    since="0.2",
    references=["https://dev.mysql.com/doc/refman/8.4/en/caching-sha2-pluggable-authentication.html"],
)


@rule.check
def check(default: DefaultPlugin) -> Finding | Passed:
    figures = default.measured()
    if default.plugin not in ("mysql_native_password", "sha256_password"):
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message("New accounts are made with {plugin}", {"plugin": Quantity(default.plugin, Unit.TEXT)}),
                evidence=figures,
                proposal=(
                    Investigate(
                        "Try the clients with an account IDENTIFIED WITH caching_sha2_password, then take the line "
                        f"of {default.variable} out of the option file."
                    ),
                ),
                expected=Message("New accounts stay as they are in the next version."),
                price=(
                    Price(
                        PriceKind.OVERHEAD, Message("clients need TLS or the server's public key for their first login")
                    ),
                ),
                would_change_our_mind=Message("A client library that knows nothing newer."),
            ),
        )
    )


rule.fires(
    "Set back for old clients", scene("mysql 8.0.33", {"default_authentication_plugin": "mysql_native_password"})
)
rule.fires("By policy", scene("mysql 9.7.4", {"authentication_policy": "sha256_password,,"}))
rule.passes("The default of 8.0", scene("mysql 8.0.33"))
rule.passes("The default of 9.7, which has no such variable any more", scene("mysql 9.7.4"))
