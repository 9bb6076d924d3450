"""Sessions end without saying goodbye.

Why it matters
    A session that is cut off leaves its transaction to be rolled back, and its client with an error it did not
    expect. Reasons are applications that crash or forget to close, a wait_timeout shorter than the pool's idle
    time, packets larger than max_allowed_packet, and firewalls that forget idle connections.

How it is computed
    Aborted_clients rose by at least one every ten seconds between full snapshots, and by more than 2 % of the
    connections that were made. No value is named, since the reasons need different ones.

When to dismiss it
    Clients that are stopped by force are normal here: short jobs, containers, tests.
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
    """Sessions cut off, and connections made, per second."""

    aborted_clients: float
    connections: float


@dataclass(frozen=True)
class Parameters(Thresholds):
    """When too many sessions are cut off."""

    aborted_per_second: float = threshold(0.1, unit=Unit.PER_SECOND, meaning="sessions cut off", leave_at=0.07)
    aborted_ratio: float = threshold(
        0.02, unit=Unit.RATIO, meaning="sessions cut off as a share of the connections made", leave_at=0.015
    )


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
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
    if seen.aborted_clients < p.aborted_per_second or seen.aborted_clients <= p.aborted_ratio * seen.connections:
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message(
                    "{aborted} sessions a second are cut off", {"aborted": Quantity(seen.aborted_clients, Unit.COUNT)}
                ),
                evidence=figures,
                proposal=(
                    Investigate(
                        "Find out who: log_error_verbosity = 3 (MariaDB: log_warnings = 2) names each of them in "
                        "the error "
                        "log. Compare wait_timeout with the idle time of connection pools, and max_allowed_packet with "
                        "the largest rows."
                    ),
                ),
                would_change_our_mind=Message("Clients that are stopped by force on purpose."),
            ),
        )
    )


rule.fires(
    "A pool keeps connections longer than the server",
    scene("mysql 8.0.33", counters={"Aborted_clients": 2, "Connections": 12}, deliberate=True),
)

rule.fires(
    "The same on MariaDB",
    scene("mariadb 10.11.18", counters={"Aborted_clients": 0.5, "Connections": 3}, deliberate=True),
)

rule.passes(
    "One of many",
    scene("mysql 8.0.33", counters={"Aborted_clients": 0.2, "Connections": 60}, deliberate=True),
)

rule.passes(
    "None",
    scene("mariadb 10.11.18", counters={"Aborted_clients": 0, "Connections": 20}, deliberate=True),
)
