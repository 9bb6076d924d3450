"""Logins or statements are refused all the time.

Why it matters
    Somebody tries passwords, or a program runs with an old one: a job that has not worked since the password was
    changed, a pool that opens connections in a loop. Each try costs a connection and a look-up, and hides the one
    that is meant.

How it is computed
    Access_denied_errors rises by at least 0.1 per second, six times a minute, between full snapshots. MariaDB counts
    them by itself (logins, and statements that lack a right); MySQL counts them among all aborted connects, which are
    another rule's.

When to dismiss it
    A scanner of your own checks the server, or a monitor tries an account that it may not use.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Rates
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import Investigate


@dataclass(frozen=True)
class Refusals(Rates):
    """Logins that were refused and connections that were opened, per second."""

    access_denied_errors: float
    connections: float


@dataclass(frozen=True)
class Parameters(Thresholds):
    """From when on it is more than a slip of somebody's."""

    refused_per_second: float = threshold(0.1, unit=Unit.PER_SECOND, meaning="logins that are refused", leave_at=0.05)


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://mariadb.com/docs/server/server-management/variables-and-modes/server-system-variables",
        "https://mariadb.com/docs/server/ha-and-performance/optimization-and-tuning/system-variables/server-status-variables",
    ],
)


@rule.check
def check(refusals: Refusals, p: Parameters) -> Finding | Passed:
    figures = refusals.measured()
    if refusals.access_denied_errors < p.refused_per_second:
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message(
                    "Logins or statements are refused for want of a password or a right: {rate}",
                    {"rate": Quantity(refusals.access_denied_errors, Unit.PER_SECOND)},
                ),
                evidence=figures,
                proposal=(
                    Investigate(
                        "Set log_warnings = 2 for a while and read in the error log which account and host are "
                        "refused; mend the program that has an old password, or close the port to where the tries "
                        "come from."
                    ),
                ),
                expected=Message("A refused login is seldom, and is looked at."),
                price=(Price(PriceKind.OVERHEAD, Message("a line in the error log for each refused login")),),
                would_change_our_mind=Message("A scanner of your own."),
            ),
        )
    )


rule.fires(
    "A pool with an old password",
    scene("mariadb 10.11.18", counters={"Access_denied_errors": 4, "Connections": 5}, deliberate=True),
)
rule.fires(
    "Six a minute, on MariaDB 10.2",
    scene("mariadb 10.2.11", counters={"Access_denied_errors": 0.11, "Connections": 5}, deliberate=True, seconds=600),
)
rule.passes(
    "A slip now and then",
    scene("mariadb 10.11.18", counters={"Access_denied_errors": 0.002, "Connections": 5}, deliberate=True, seconds=600),
)
rule.passes(
    "None on MariaDB 10.2",
    scene("mariadb 10.2.11", counters={"Access_denied_errors": 0, "Connections": 5}, deliberate=True, seconds=600),
)
