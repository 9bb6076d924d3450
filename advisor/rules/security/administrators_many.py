"""More accounts administrate the server than anybody watches over.

Why it matters
    Each account that may change every setting, act as anybody or give away its rights is a way to all data, for
    whoever gets hold of it; and programs that run as administrators make every hole in them a hole in the server.
    Rights that a program needs can be named.

How it is computed
    Accounts that can log in with SUPER, with what replaced it, or with GRANT OPTION on everything: more than five,
    whatever their hosts are.

When to dismiss it
    They belong to five people and more who administrate this server under their own names.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.examples import made_account
from advisor.engine.facts.security import Accounts, Administrators, named
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import inspected, scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import Investigate


@dataclass(frozen=True)
class Parameters(Thresholds):
    """How many people administrate one server."""

    names: float = threshold(5, unit=Unit.COUNT, meaning="user names that may change everything")


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/privileges-provided.html",
        "https://mariadb.com/docs/server/reference/sql-statements/account-management-sql-statements/grant",
    ],
)


@rule.check
def check(admins: Administrators, accounts: Accounts, p: Parameters) -> Finding | Passed:
    names = {one.user for one in admins.everyone}
    figures = accounts.measured() + named(admins.everyone, "accounts that administrate")
    if len(names) <= p.names:
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message(
                    "{count} users may change everything on this server", {"count": Quantity(len(names), Unit.COUNT)}
                ),
                evidence=figures,
                proposal=(
                    Investigate(
                        "Look at each by SHOW GRANTS FOR, grant programs what they need (SELECT, INSERT, UPDATE, "
                        "DELETE on their schemas), and then take SUPER and GRANT OPTION from them with REVOKE."
                    ),
                ),
                expected=Message("A program that is broken into reaches its own schemas only."),
                price=(Price(PriceKind.OVERHEAD, Message("what was not granted by name fails")),),
                would_change_our_mind=Message("People who administrate under their own names."),
            ),
        )
    )


_SIX = [made_account(f"admin{n}", "10.1.%", administrator="1") for n in range(6)]
rule.fires("Six names", scene("mysql 8.0.33", inspection=inspected(accounts=_SIX)))
rule.fires("Six names on MariaDB", scene("mariadb 10.11.18", inspection=inspected(accounts=_SIX)))
rule.passes("Five names", scene("mysql 8.0.33", inspection=inspected(accounts=_SIX[:5])))
rule.passes(
    "One name from six hosts",
    scene(
        "mariadb 10.11.18",
        inspection=inspected(accounts=[made_account("root", f"10.1.{n}.%", administrator="1") for n in range(6)]),
    ),
)
