"""Every single connection asks the name service who its client is.

Why it matters
    The host cache remembers which name belongs to an address. Without it, and with name look-ups on, each new
    connection waits for the name service, twice: for the name of the address and for the address of the name. A
    name service that is slow for a minute keeps everybody out for that minute.

How it is computed
    host_cache_size is 0 while skip_name_resolve is OFF. The proposal is the server's own default: 128 and one for
    each of max_connections up to 500. Where no account needs names, another rule says that nothing has to be looked
    up at all.

When to dismiss it
    Names change so often that remembering them does harm: then accounts by address are the better way.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class HostCache(Settings):
    """How many hosts are remembered, whether names are looked up at all, and how many connections are admitted."""

    host_cache_size: int
    skip_name_resolve: bool
    max_connections: int


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/host-cache.html",
        "https://mariadb.com/docs/server/server-management/variables-and-modes/server-system-variables",
    ],
)


@rule.check
def check(cache: HostCache) -> Finding | Passed:
    if cache.host_cache_size > 0 or cache.skip_name_resolve:
        return Passed(cache.measured())
    wanted = 128 + min(cache.max_connections, 500)
    return Finding(
        (
            Item(
                message=Message("host_cache_size is 0: every connection waits for the name service"),
                evidence=cache.measured(),
                proposal=(SetVariable("host_cache_size", wanted),),
                expected=Message("Clients that were here before connect without a look-up."),
                price=(Price(PriceKind.MEMORY, Message("some hundred bytes for each host")),),
                would_change_our_mind=Message("Names that change from minute to minute."),
            ),
        )
    )


rule.fires(
    "Switched off while names are looked up",
    scene("mysql 8.0.33", {"host_cache_size": 0, "skip_name_resolve": "OFF", "max_connections": 151}),
    proposes={"host_cache_size": 279},
)
rule.fires(
    "The same on MariaDB with many connections",
    scene("mariadb 10.11.18", {"host_cache_size": 0, "skip_name_resolve": "OFF", "max_connections": 2000}),
    proposes={"host_cache_size": 628},
)
rule.passes(
    "Names are not looked up",
    scene("mysql 8.0.33", {"host_cache_size": 0, "skip_name_resolve": "ON", "max_connections": 151}),
)
rule.passes(
    "Hosts are remembered",
    scene("mariadb 10.11.18", {"host_cache_size": 279, "skip_name_resolve": "OFF", "max_connections": 151}),
)
