"""The slow query log waits ten seconds before it writes.

Why it matters
    long_query_time = 10 is the default of a time when a report took an hour. Whoever switched the log on wants to know
    what people wait for: a page has lost its visitor after three seconds, so that the log stays empty while everybody
    complains.

How it is computed
    From settings alone: slow_query_log is ON and long_query_time is 10 s or more. 1 s is proposed; the rule about a log
    that is flooded says if that is too little here. Where the log is off, this is no matter.

When to dismiss it
    Only statements of that length are wanted in the log, since something else tells of the others.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.facts.statements import SlowLog
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class Parameters(Thresholds):
    """Which threshold is of no use."""

    highest_seconds: float = threshold(10.0, unit=Unit.SECONDS, meaning="long_query_time of no use")


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/slow-query-log.html",
        "https://mariadb.com/docs/server/server-management/server-monitoring-logs/slow-query-log/slow-query-log-overview",
    ],
)


@rule.check
def check(log: SlowLog, p: Parameters) -> Finding | Passed:
    figures = log.measured("slow_query_log", "long_query_time")
    if not log.slow_query_log or log.long_query_time < p.highest_seconds:
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message(
                    "The slow query log takes statements from {limit} on only",
                    {"limit": Quantity(log.long_query_time, Unit.SECONDS)},
                ),
                evidence=figures,
                proposal=(SetVariable("long_query_time", 1),),
                expected=Message("The log holds what people wait for."),
                price=(Price(PriceKind.DISK_WRITES, Message("a few lines for each statement above a second")),),
                would_change_our_mind=Message(
                    "Something else that tells of the statements between one and ten seconds."
                ),
            ),
        )
    )


rule.fires(
    "Switched on, and nothing else changed",
    scene("mysql 8.0.33", {"slow_query_log": "ON"}),
    proposes={"long_query_time": 1},
)
rule.fires(
    "A minute",
    scene("mariadb 10.11.18", {"slow_query_log": "ON", "long_query_time": "60.000000"}),
    proposes={"long_query_time": 1},
)
rule.passes("Two seconds", scene("mysql 8.0.33", {"slow_query_log": "ON", "long_query_time": "2.000000"}))
rule.passes("The log is off, as installed", scene("mariadb 10.11.18"))
