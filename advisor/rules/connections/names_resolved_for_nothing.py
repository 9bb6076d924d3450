"""Clients' addresses are looked up though no account needs their names.

Why it matters
    For each address that is not in its cache the server asks the name service who that is, before the password is
    looked at. A slow or failing name service then makes connecting slow or impossible, for hours and for no reason
    that the server logs. Only accounts whose host is a name need it.

How it is computed
    skip_name_resolve is OFF, at least one connection a second is made, and an inspection of the accounts found none
    that is matched by a host's name: only addresses, patterns of addresses, % and localhost. Accounts at localhost
    go on working through the socket; over TCP from the same machine they would not be matched any more, so that
    such clients need an account at 127.0.0.1. Where one account has a name nothing is proposed: that is what breaks
    grants.

When to dismiss it
    Local clients connect over TCP as accounts at localhost and cannot be given others.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.facts.connections import Arrivals, NameLookups, NamesOfAccounts
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import inspected, scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class Parameters(Thresholds):
    """When look-ups matter."""

    connections_per_second: float = threshold(
        1, unit=Unit.PER_SECOND, meaning="connections made, from which on look-ups matter", leave_at=0.8
    )


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/host-cache.html",
        "https://mariadb.com/docs/server/server-management/variables-and-modes/server-system-variables",
    ],
)


@rule.check
def check(lookups: NameLookups, accounts: NamesOfAccounts, arrivals: Arrivals, p: Parameters) -> Finding | Passed:
    figures = lookups.measured() + accounts.measured() + arrivals.measured()
    if lookups.skip_name_resolve or accounts.named or arrivals.connections < p.connections_per_second:
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message(
                    "Names of clients are looked up, and none of {accounts} accounts is matched by a name",
                    {"accounts": Quantity(accounts.accounts, Unit.COUNT)},
                ),
                evidence=figures,
                proposal=(SetVariable("skip_name_resolve", True),),
                expected=Message("A name service that is slow or away no longer keeps clients out."),
                price=(
                    Price(
                        PriceKind.RESTART,
                        Message("accounts at localhost are no longer matched over TCP, only through the socket"),
                    ),
                ),
                would_change_our_mind=Message(
                    "Clients on this machine that connect over TCP as accounts at localhost."
                ),
            ),
        )
    )


_BY_ADDRESS = inspected(
    accounts=[
        {"user": "root", "host": "localhost", "is_role": "0"},
        {"user": "shop", "host": "10.0.%", "is_role": "0"},
    ]
)
_BY_NAME = inspected(
    accounts=[
        {"user": "root", "host": "localhost", "is_role": "0"},
        {"user": "shop", "host": "web%.example.com", "is_role": "0"},
    ]
)
rule.fires(
    "Accounts by addresses only",
    scene(
        "mysql 8.0.33",
        {"skip_name_resolve": "OFF"},
        counters={"Connections": 20},
        inspection=_BY_ADDRESS,
        deliberate=True,
    ),
    proposes={"skip_name_resolve": True},
)
rule.fires(
    "The same on MariaDB",
    scene(
        "mariadb 10.11.18",
        {"skip_name_resolve": "OFF"},
        counters={"Connections": 20},
        inspection=_BY_ADDRESS,
        deliberate=True,
    ),
    proposes={"skip_name_resolve": True},
)
rule.passes(
    "One account is matched by a name",
    scene(
        "mysql 8.0.33",
        {"skip_name_resolve": "OFF"},
        counters={"Connections": 20},
        inspection=_BY_NAME,
        deliberate=True,
    ),
)
rule.passes(
    "Nothing is looked up",
    scene(
        "mariadb 10.11.18",
        {"skip_name_resolve": "ON"},
        counters={"Connections": 20},
        inspection=_BY_ADDRESS,
        deliberate=True,
    ),
)
