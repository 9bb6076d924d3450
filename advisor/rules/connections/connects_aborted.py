"""Attempts to connect fail.

Why it matters
    Failed attempts are wrong passwords, clients that speak no TLS where it is required, port scans, load balancers
    that only open the port, or somebody who guesses passwords. Each costs a thread for a moment, and after
    max_connect_errors of some kinds the host is blocked.

How it is computed
    Aborted_connects rose by at least one every ten seconds between full snapshots, and by more than 3 % of all
    attempts. Attempts that were refused since all connections were taken are left out: another rule tells of them.

When to dismiss it
    A monitor that opens the port and says nothing is known to do so.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Rates
from advisor.engine.outcome import Finding, Item, Message, Passed, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import Investigate


@dataclass(frozen=True)
class Aborts(Rates):
    """Attempts that failed, those refused for want of room, and all attempts, per second."""

    aborted_connects: float
    connections: float
    connection_errors_max_connections: float = 0.0

    @property
    def failed(self) -> float:
        """Attempts that failed for another reason than want of room."""
        return max(0.0, self.aborted_connects - self.connection_errors_max_connections)


@dataclass(frozen=True)
class Parameters(Thresholds):
    """When too many attempts fail."""

    failed_per_second: float = threshold(0.1, unit=Unit.PER_SECOND, meaning="failed attempts", leave_at=0.07)
    failed_ratio: float = threshold(
        0.03, unit=Unit.RATIO, meaning="failed attempts as a share of all of them", leave_at=0.02
    )


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/communication-errors.html",
        "https://mariadb.com/docs/server/server-management/variables-and-modes/server-status-variables",
    ],
)


@rule.check
def check(seen: Aborts, p: Parameters) -> Finding | Passed:
    figures = seen.measured()
    if seen.failed < p.failed_per_second or seen.failed <= p.failed_ratio * seen.connections:
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message(
                    "{failed} attempts to connect fail each second", {"failed": Quantity(seen.failed, Unit.COUNT)}
                ),
                evidence=figures,
                proposal=(
                    Investigate(
                        "Find out who: the error log names user and address of each of them with "
                        "log_error_verbosity = 3 "
                        "(MariaDB: log_warnings = 2). Addresses that nobody knows belong behind a firewall."
                    ),
                ),
                would_change_our_mind=Message("A monitor that is known to open the port only."),
            ),
        )
    )


rule.fires(
    "A wrong password, again and again",
    scene("mysql 8.0.33", counters={"Aborted_connects": 3, "Connections": 10}, deliberate=True),
)

rule.fires(
    "The same on MariaDB",
    scene("mariadb 10.11.18", counters={"Aborted_connects": 1, "Connections": 9}, deliberate=True),
)

rule.passes(
    "Somebody mistyped",
    scene("mysql 8.0.33", counters={"Aborted_connects": 0.01, "Connections": 10}, deliberate=True),
)

rule.passes(
    "None of many",
    scene("mariadb 10.11.18", counters={"Aborted_connects": 0, "Connections": 90}, deliberate=True),
)
