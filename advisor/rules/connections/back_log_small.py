"""The queue of new connections is shorter than a second of them.

Why it matters
    Connections that arrive while the server is busy accepting others wait in a queue of back_log places. One pause
    (a checkpoint, a lock, a virtual machine that stands still) and a queue for less than a second of arrivals is
    full: clients then get errors or time-outs that the server counts nowhere.

How it is computed
    More connections are made in one second, on average between full snapshots, than back_log has places. The
    proposal is two seconds of them, at least 50 and a fifth of max_connections, the server's own default.

When to dismiss it
    Applications are about to keep their connections in a pool, which is worth more.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.facts.connections import Arrivals
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import Quantity, Unit, round_up
from advisor.mysql.proposal import Change, Investigate, SetVariable


@dataclass(frozen=True)
class Queue(Settings):
    """Places for connections that were not accepted yet, and how many connections are admitted."""

    back_log: int
    max_connections: int


@dataclass(frozen=True)
class Parameters(Thresholds):
    """When a queue is too short."""

    seconds: float = threshold(
        1.0, unit=Unit.SECONDS, meaning="seconds of arriving connections that the queue has to hold", leave_at=0.85
    )


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    raises=["back_log"],
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/server-system-variables.html",
        "https://mariadb.com/docs/server/server-management/variables-and-modes/server-system-variables",
    ],
)


@rule.check
def check(queue: Queue, arrivals: Arrivals, p: Parameters) -> Finding | Passed:
    figures = queue.measured() + arrivals.measured()
    if queue.back_log >= p.seconds * arrivals.connections or queue.back_log == 0:
        return Passed(figures)
    wanted = min(65_535, max(50 + queue.max_connections // 5, round_up(2 * arrivals.connections, 10)))
    proposal: tuple[Change, ...] = (SetVariable("back_log", wanted),)
    if wanted <= queue.back_log:
        proposal = (Investigate("Let applications keep their connections: no queue is long enough for so many."),)
    return Finding(
        (
            Item(
                message=Message(
                    "{arrivals} connections a second arrive, and {places} may wait",
                    {
                        "arrivals": Quantity(arrivals.connections, Unit.COUNT),
                        "places": Quantity(queue.back_log, Unit.COUNT),
                    },
                ),
                evidence=figures,
                proposal=proposal,
                expected=Message("A pause of a second costs no client its connection."),
                price=(Price(PriceKind.RESTART, Message("the queue is made at the start")),),
                would_change_our_mind=Message("Applications that will soon keep their connections."),
            ),
        )
    )


rule.fires(
    "80 places, 400 connections a second",
    scene(
        "mysql 8.0.33",
        {"back_log": 80, "max_connections": 151},
        counters={"Connections": 400},
        deliberate=True,
    ),
    proposes={"back_log": 800},
)
rule.fires(
    "MariaDB with one place",
    scene(
        "mariadb 10.11.18",
        {"back_log": 1, "max_connections": 151},
        counters={"Connections": 8},
        deliberate=True,
    ),
    proposes={"back_log": 80},
)
rule.passes(
    "Few arrive",
    scene("mysql 8.0.33", {"back_log": 80, "max_connections": 151}, counters={"Connections": 2}, deliberate=True),
)
rule.passes(
    "Many places",
    scene(
        "mariadb 10.11.18", {"back_log": 900, "max_connections": 151}, counters={"Connections": 300}, deliberate=True
    ),
)
