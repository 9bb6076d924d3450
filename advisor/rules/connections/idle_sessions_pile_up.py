"""Sessions that do nothing take most of the connections.

Why it matters
    A session that sleeps keeps its connection, its memory, and, if it forgot to commit, its locks. Where sleepers
    take most of max_connections, the next burst of work is refused although the server has nothing to do.
    wait_timeout is eight hours by default: forgotten sessions stay for a working day.

How it is computed
    On inspection, 70 % of max_connections or more are sessions that sleep, and wait_timeout is above half an hour.
    The proposal is half an hour: it counts for connections made from then on.

When to dismiss it
    The sessions belong to pools whose size somebody chose, with a limit that leaves room for all of them.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.facts.connections import Sessions
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import inspected, scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class IdleLimit(Settings):
    """How many connections are admitted, and after how many seconds of sleep a session is closed."""

    max_connections: int
    wait_timeout: int


@dataclass(frozen=True)
class Parameters(Thresholds):
    """When too many sessions sleep."""

    asleep_ratio: float = threshold(
        0.7, unit=Unit.RATIO, meaning="sessions that sleep as a share of max_connections", leave_at=0.6
    )
    timeout_seconds: float = threshold(1800, unit=Unit.SECONDS, meaning="wait_timeout that is short enough")


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/server-system-variables.html",
        "https://mariadb.com/docs/server/server-management/variables-and-modes/server-system-variables",
    ],
)


@rule.check
def check(limit: IdleLimit, sessions: Sessions, p: Parameters) -> Finding | Passed:
    figures = limit.measured() + sessions.measured()
    if sessions.asleep < p.asleep_ratio * limit.max_connections or limit.wait_timeout <= p.timeout_seconds:
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message(
                    "{asleep} of {limit} connections are taken by sessions that sleep",
                    {
                        "asleep": Quantity(sessions.asleep, Unit.COUNT),
                        "limit": Quantity(limit.max_connections, Unit.COUNT),
                    },
                ),
                evidence=figures,
                proposal=(SetVariable("wait_timeout", int(p.timeout_seconds)),),
                expected=Message("Forgotten sessions make room after half an hour."),
                price=(
                    Price(
                        PriceKind.OVERHEAD,
                        Message("a pool that keeps idle connections longer has to test them before use"),
                        Quantity(limit.wait_timeout, Unit.SECONDS),
                        Quantity(int(p.timeout_seconds), Unit.SECONDS),
                    ),
                ),
                would_change_our_mind=Message("Pools that are meant to be this large."),
            ),
        )
    )


_ASLEEP = inspected(
    sessions=[
        {"command": "Sleep", "count": "130", "longest_seconds": "20000"},
        {"command": "Query", "count": "4", "longest_seconds": "1"},
    ]
)
_AWAKE = inspected(
    sessions=[
        {"command": "Sleep", "count": "30", "longest_seconds": "200"},
        {"command": "Query", "count": "4", "longest_seconds": "1"},
    ]
)
rule.fires(
    "130 of 151 sleep",
    scene("mysql 8.0.33", {"max_connections": 151, "wait_timeout": 28_800}, inspection=_ASLEEP),
    proposes={"wait_timeout": 1800},
)
rule.fires(
    "The same on MariaDB",
    scene("mariadb 10.11.18", {"max_connections": 180, "wait_timeout": 28_800}, inspection=_ASLEEP),
    proposes={"wait_timeout": 1800},
)
rule.passes(
    "There is room for all",
    scene("mysql 8.0.33", {"max_connections": 500, "wait_timeout": 28_800}, inspection=_ASLEEP),
)
rule.passes(
    "Few sleep",
    scene("mariadb 10.11.18", {"max_connections": 151, "wait_timeout": 28_800}, inspection=_AWAKE),
)
