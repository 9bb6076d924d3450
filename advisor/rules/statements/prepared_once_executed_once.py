"""Statements are prepared for a single execution.

Why it matters
    A prepared statement pays when it is executed many times: parsed once, then sent as numbers. Prepared, executed once
    and closed, it costs three round trips instead of one. Drivers do that by default where the application hands them
    parameters: server-side prepared statements without a statement cache.

How it is computed
    Com_stmt_prepare grew by 10 a second or more, and Com_stmt_execute by less than 1.5 times as much.

When to dismiss it
    The round trip is within one machine and nobody waits for it, or the binary protocol is wanted for its types.
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
class Prepared(Rates):
    """Prepared, executed and closed statements per second."""

    com_stmt_prepare: float
    com_stmt_execute: float
    com_stmt_close: float


@dataclass(frozen=True)
class Parameters(Thresholds):
    """When preparing does not pay."""

    prepares_per_second: float = threshold(10.0, unit=Unit.PER_SECOND, meaning="statements prepared", leave_at=8.0)
    executions_per_prepare: float = threshold(
        1.5, unit=Unit.COUNT, meaning="executions of each prepared statement, fewer are too few", leave_at=1.8
    )


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/sql-prepared-statements.html",
        "https://mariadb.com/docs/server/reference/sql-statements/prepared-statements/prepare-statement",
    ],
)


@rule.check
def check(rates: Prepared, p: Parameters) -> Finding | Passed:
    once = rates.com_stmt_execute < p.executions_per_prepare * rates.com_stmt_prepare
    if rates.com_stmt_prepare < p.prepares_per_second or not once:
        return Passed(rates.measured())
    return Finding(
        (
            Item(
                message=Message(
                    "{prepares} statements a second are prepared for {executions} executions",
                    {
                        "prepares": Quantity(rates.com_stmt_prepare, Unit.COUNT),
                        "executions": Quantity(rates.com_stmt_execute, Unit.COUNT),
                    },
                ),
                evidence=rates.measured(),
                proposal=(
                    Investigate(
                        "In the driver's settings, keep prepared statements (Connector/J: cachePrepStmts=true) or let "
                        "the driver put the parameters in by itself (useServerPrepStmts=false, emulated prepares)."
                    ),
                ),
                expected=Message("One round trip for a statement instead of three."),
                would_change_our_mind=Message("Statements whose types need the binary protocol."),
            ),
        )
    )


rule.fires(
    "Every statement prepared, executed and closed",
    scene(
        "mysql 8.0.33",
        counters={"Com_stmt_prepare": 400, "Com_stmt_execute": 400, "Com_stmt_close": 400},
        deliberate=True,
    ),
)
rule.fires(
    "The same on MariaDB",
    scene(
        "mariadb 10.11.18",
        counters={"Com_stmt_prepare": 20, "Com_stmt_execute": 21, "Com_stmt_close": 20},
        deliberate=True,
    ),
)
rule.passes(
    "Kept by the driver",
    scene(
        "mysql 8.0.33",
        counters={"Com_stmt_prepare": 15, "Com_stmt_execute": 4000, "Com_stmt_close": 15},
        deliberate=True,
    ),
)
rule.passes(
    "None at all",
    scene(
        "mariadb 10.11.18",
        counters={"Com_stmt_prepare": 0, "Com_stmt_execute": 0, "Com_stmt_close": 0},
        deliberate=True,
    ),
)
