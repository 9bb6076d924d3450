"""Status and variables are asked for many times a second.

Why it matters
    SHOW GLOBAL STATUS adds up the counters of all sessions under a lock, and makes a temporary table: one or two
    milliseconds on a small idle server, tens of them with thousands of sessions. Several tools that each ask every
    second, or a driver that reads all variables for each new connection, take that time from everybody else.

How it is computed
    Com_show_status + Com_show_variables + Com_show_engine_status + Com_show_processlist grew by 5 a second or more.

When to dismiss it
    Someone is looking at the server with a tool right now.
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
class Monitoring(Rates):
    """Statements of monitoring tools per second."""

    com_show_status: float
    com_show_variables: float
    com_show_engine_status: float
    com_show_processlist: float

    @property
    def in_all(self) -> float:
        """All of them per second."""
        return self.com_show_status + self.com_show_variables + self.com_show_engine_status + self.com_show_processlist


@dataclass(frozen=True)
class Parameters(Thresholds):
    """When it is too much."""

    statements_per_second: float = threshold(
        5.0, unit=Unit.PER_SECOND, meaning="statements that read status and variables", leave_at=4.0
    )


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/show-status.html",
        "https://mariadb.com/docs/server/reference/sql-statements/administrative-sql-statements/show/show-status",
    ],
)


@rule.check
def check(rates: Monitoring, p: Parameters) -> Finding | Passed:
    if rates.in_all < p.statements_per_second:
        return Passed(rates.measured())
    return Finding(
        (
            Item(
                message=Message(
                    "Status and variables are read {rate} times a second",
                    {"rate": Quantity(rates.in_all, Unit.COUNT)},
                ),
                evidence=rates.measured(),
                proposal=(
                    Investigate(
                        "Find out who asks: monitoring agents that each ask every second, or a driver that reads all "
                        "variables for each connection (Connector/J: cacheServerConfiguration=true)."
                    ),
                ),
                expected=Message("The server is not kept busy with telling how busy it is."),
                would_change_our_mind=Message("A tool that runs for the moment."),
            ),
        )
    )


rule.fires(
    "A driver that reads all variables for each connection",
    scene(
        "mysql 8.0.33",
        counters={
            "Com_show_status": 0.1,
            "Com_show_variables": 60,
            "Com_show_engine_status": 0,
            "Com_show_processlist": 0,
        },
        deliberate=True,
    ),
)
rule.fires(
    "Too many agents",
    scene(
        "mariadb 10.11.18",
        counters={
            "Com_show_status": 6,
            "Com_show_variables": 1,
            "Com_show_engine_status": 1,
            "Com_show_processlist": 2,
        },
        deliberate=True,
    ),
)
rule.passes(
    "One agent, each ten seconds",
    scene(
        "mysql 8.0.33",
        counters={
            "Com_show_status": 0.1,
            "Com_show_variables": 0.1,
            "Com_show_engine_status": 0,
            "Com_show_processlist": 0,
        },
        deliberate=True,
    ),
)
rule.passes(
    "One agent, each second",
    scene(
        "mariadb 10.11.18",
        counters={
            "Com_show_status": 1,
            "Com_show_variables": 0.1,
            "Com_show_engine_status": 1,
            "Com_show_processlist": 0,
        },
        deliberate=True,
    ),
)
