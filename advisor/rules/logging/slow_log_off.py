"""Statements are slow, and nothing writes down which.

Why it matters
    The server counts statements that take longer than long_query_time and forgets them. The slow query log keeps their
    text with the time, the rows read and the locks waited for, at the price of a line for each; digests tell what is
    slow on average, the log tells of the one at ten past nine that everybody complained about.

How it is computed
    slow_query_log is OFF, and Slow_queries grew by one a minute or more between full snapshots. A server without slow
    statements hears nothing. MySQL 5.7 and MariaDB 10.2 count them only while the log is on: there it cannot be told.

When to dismiss it
    Something else keeps the statements: an agent that reads them from performance_schema, or a proxy.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.facts.statements import SlowLog, SlowStatements
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class Parameters(Thresholds):
    """When it is worth a log."""

    slow_per_second: float = threshold(
        1 / 60, unit=Unit.PER_SECOND, meaning="slow statements that nobody writes down", leave_at=1 / 120
    )


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    caused_by=[SlowStatements],
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/slow-query-log.html",
        "https://mariadb.com/docs/server/server-management/server-monitoring-logs/slow-query-log/slow-query-log-overview",
    ],
)


@rule.check
def check(log: SlowLog, statements: SlowStatements, p: Parameters) -> Finding | Passed:
    figures = log.measured("slow_query_log", "long_query_time") + statements.measured("slow_queries")
    if log.slow_query_log or statements.slow_queries < p.slow_per_second:
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message(
                    "{rate} statements a second take longer than {limit}, and nothing writes down which",
                    {
                        "rate": Quantity(statements.slow_queries, Unit.COUNT),
                        "limit": Quantity(log.long_query_time, Unit.SECONDS),
                    },
                ),
                evidence=figures,
                proposal=(SetVariable("slow_query_log", True),),
                expected=Message("The slow statements are known by their text, time and rows."),
                price=(
                    Price(
                        PriceKind.DISK_WRITES,
                        Message("a few lines for each slow statement"),
                        Quantity(0, Unit.COUNT),
                        Quantity(statements.slow_queries, Unit.COUNT),
                    ),
                ),
                would_change_our_mind=Message("Something else that keeps the slow statements."),
            ),
        )
    )


rule.fires(
    "Slow statements on a server as installed",
    scene("mysql 8.0.33", counters={"Slow_queries": 0.5}, deliberate=True),
    proposes={"slow_query_log": True},
)
rule.fires(
    "The same on MariaDB",
    scene("mariadb 10.11.18", counters={"Slow_queries": 2}, deliberate=True),
    proposes={"slow_query_log": True},
)
rule.passes("As installed, and nothing is slow", scene("mysql 8.0.33", counters={"Slow_queries": 0}, deliberate=True))
rule.passes(
    "It is on",
    scene("mariadb 10.11.18", {"slow_query_log": "ON"}, counters={"Slow_queries": 2}, deliberate=True),
)
