"""Accounts log in by a plugin that should not be used any more.

Why it matters
    mysql_old_password is broken in seconds. mysql_native_password is an unsalted SHA-1, off by default in MySQL 8.4
    and gone in 9.0: its accounts cannot log in after the upgrade. sha256_password is deprecated and slower than what
    replaced it. On MariaDB and MySQL 5.7 mysql_native_password is what there is, and is not found.

How it is computed
    Accounts that can log in with one of these plugins, by what this version has instead. A warning for
    mysql_old_password everywhere and for mysql_native_password from MySQL 8.4 on, else a notice.

When to dismiss it
    A client library that cannot be replaced yet knows nothing newer.
"""

from __future__ import annotations

from advisor.engine.examples import made_account
from advisor.engine.facts.security import Accounts, WeakPlugins, counted, named
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import inspected, scene
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import Investigate

rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/native-pluggable-authentication.html",
        "https://mariadb.com/docs/server/reference/plugins/authentication-plugins",
    ],
)


@rule.check
def check(accounts: Accounts, weak: WeakPlugins) -> Finding | Passed:
    plugins = dict(weak.reasons)
    found = [one for one in accounts.everyone if one.plugin in plugins]
    figures = accounts.measured() + named(found, "accounts with a plugin on its way out")
    if not found:
        return Passed(figures)
    used = sorted({one.plugin for one in found})
    return Finding(
        (
            Item(
                message=Message(
                    "Accounts log in by {plugins}: {count}",
                    {"count": counted(found), "plugins": Quantity(", ".join(used), Unit.TEXT)},
                ),
                evidence=figures,
                proposal=tuple(
                    Investigate(
                        f"{plugin}: {plugins[plugin]}. Set the password of each account again by what this version "
                        "has by default (ALTER USER ... IDENTIFIED WITH caching_sha2_password BY on MySQL 8 and later, "
                        "SET PASSWORD elsewhere) when its clients were tried with it."
                    )
                    for plugin in used
                ),
                severity=Severity.WARNING if weak.urgent & set(used) else None,
                expected=Message(
                    "The accounts log in after the next upgrade, too, and stolen hashes are of little use."
                ),
                price=(
                    Price(
                        PriceKind.OVERHEAD, Message("clients need TLS or the server's public key for their first login")
                    ),
                ),
                would_change_our_mind=Message("A client library that knows nothing newer."),
            ),
        )
    )


_NEW = made_account("new", "10.1.%")
_NATIVE = made_account("app", "10.1.%", plugin="mysql_native_password")
_OLD = made_account("ancient", "10.1.%", plugin="mysql_old_password")
rule.fires(
    "The old plugin on MySQL 8.0: a notice", scene("mysql 8.0.33", inspection=inspected(accounts=[_NEW, _NATIVE]))
)
rule.fires(
    "The same on 8.4, the last that has it", scene("mysql 8.4.3", inspection=inspected(accounts=[_NEW, _NATIVE]))
)
rule.fires("Hashes of before 2004", scene("mariadb 10.5.23", inspection=inspected(accounts=[_NEW, _OLD])))
rule.passes("What MySQL 8 has by default", scene("mysql 8.0.33", inspection=inspected(accounts=[_NEW])))
rule.passes("MariaDB's default is no fault there", scene("mariadb 10.11.18", inspection=inspected(accounts=[_NATIVE])))
rule.passes("It is MySQL 5.7's default", scene("mysql 5.7.22", inspection=inspected(accounts=[_NATIVE])))
rule.passes("A locked account", scene("mysql 8.4.3", inspection=inspected(accounts=[_NEW, {**_NATIVE, "locked": "1"}])))
