"""A few broken connections block a whole host.

Why it matters
    After max_connect_errors connections in a row that broke off before the log-in, the server blocks the client's
    address until FLUSH HOSTS: "Host is blocked because of many connection errors". A load balancer that only opens
    the port, or one network fault, is enough. It is no protection against guessed passwords: those do not count.

How it is computed
    max_connect_errors is below its default of 100. The proposal is 1,000. With skip_name_resolve ON or
    host_cache_size = 0 nothing is counted and nobody is blocked: then nothing is said.

When to dismiss it
    Blocking after a few broken connections is wanted, and somebody knows FLUSH HOSTS.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class Blocking(Settings):
    """After how many broken connections an address is blocked, and whether they are counted."""

    max_connect_errors: int
    skip_name_resolve: bool = False
    host_cache_size: int = 128


@dataclass(frozen=True)
class Parameters(Thresholds):
    """When too few are enough."""

    fewest: float = threshold(100, unit=Unit.COUNT, meaning="broken connections in a row that a client may have")


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
def check(blocking: Blocking, p: Parameters) -> Finding | Passed:
    counted = not blocking.skip_name_resolve and blocking.host_cache_size > 0
    if not counted or blocking.max_connect_errors >= p.fewest:
        return Passed(blocking.measured())
    return Finding(
        (
            Item(
                message=Message(
                    "{count} broken connections in a row block a client's address",
                    {"count": Quantity(blocking.max_connect_errors, Unit.COUNT)},
                ),
                evidence=blocking.measured(),
                proposal=(SetVariable("max_connect_errors", 1000),),
                expected=Message("A network fault or a port check no longer locks a host out."),
                price=(Price(PriceKind.OVERHEAD, Message("a broken client may try longer before it is blocked")),),
                would_change_our_mind=Message("A rule of yours that wants addresses blocked this early."),
            ),
        )
    )


rule.fires(
    "Ten, as in old option files",
    scene("mysql 8.0.33", {"max_connect_errors": 10, "skip_name_resolve": "OFF", "host_cache_size": 279}),
    proposes={"max_connect_errors": 1000},
)
rule.fires(
    "One on MariaDB",
    scene("mariadb 10.11.18", {"max_connect_errors": 1, "skip_name_resolve": "OFF", "host_cache_size": 279}),
    proposes={"max_connect_errors": 1000},
)
rule.passes(
    "The default",
    scene("mysql 8.0.33", {"max_connect_errors": 100, "skip_name_resolve": "OFF", "host_cache_size": 279}),
)
rule.passes(
    "Nothing is counted",
    scene("mariadb 10.11.18", {"max_connect_errors": 10, "skip_name_resolve": "ON", "host_cache_size": 279}),
)
