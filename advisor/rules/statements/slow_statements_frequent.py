"""More than one statement in twenty is slow.

Why it matters
    long_query_time says what is slow for whoever runs this server. Where one statement in twenty takes longer, people
    wait for the database, and the statements are known by name: in the slow query log and in the digests.

How it is computed
    Slow_queries grew by 0.1 a second or more and makes 5 % or more of Questions. MySQL 5.7 and MariaDB 10.2 count only
    while the log is on. Where long_query_time is below 0.1 s, or statements without an index count as slow
    (log_queries_not_using_indexes), the figure tells of something else, and nothing is said.

When to dismiss it
    A reporting server, whose statements may take their time.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.facts.statements import SlowLog, SlowStatements
from advisor.engine.outcome import Finding, Item, Message, NotApplicable, Passed, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import Investigate


@dataclass(frozen=True)
class Parameters(Thresholds):
    """When it is too many."""

    slow_per_second: float = threshold(0.1, unit=Unit.PER_SECOND, meaning="slow statements", leave_at=0.08)
    slow_ratio: float = threshold(0.05, unit=Unit.RATIO, meaning="share of slow statements", leave_at=0.04)
    smallest_seconds: float = threshold(
        0.1, unit=Unit.SECONDS, meaning="long_query_time below this is no opinion of what is slow"
    )


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/slow-query-log.html",
        "https://mariadb.com/docs/server/server-management/server-monitoring-logs/slow-query-log/slow-query-log-overview",
    ],
)


@rule.check
def check(log: SlowLog, rates: SlowStatements, p: Parameters) -> Finding | Passed | NotApplicable:
    if log.long_query_time < p.smallest_seconds or log.log_queries_not_using_indexes:
        return NotApplicable(Message("What counts as slow here is no opinion of how long a statement may take."))
    figures = rates.measured() + log.measured("long_query_time")
    if rates.slow_queries < max(p.slow_per_second, p.slow_ratio * rates.questions):
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message(
                    "{slow} of {all} statements a second take longer than {limit}",
                    {
                        "slow": Quantity(rates.slow_queries, Unit.COUNT),
                        "all": Quantity(rates.questions, Unit.COUNT),
                        "limit": Quantity(log.long_query_time, Unit.SECONDS),
                    },
                ),
                evidence=figures,
                proposal=(
                    Investigate(
                        "Take the statements with the most time in all from the digests or the slow query log, and "
                        "look at the plans of the first five."
                    ),
                ),
                expected=Message("Nobody waits longer than what was agreed on."),
                would_change_our_mind=Message("A server whose statements may take their time."),
            ),
        )
    )


rule.fires(
    "One in ten",
    scene(
        "mysql 8.0.33",
        {"long_query_time": "1.000000"},
        counters={"Slow_queries": 2, "Questions": 20},
        deliberate=True,
    ),
)
rule.fires(
    "Few statements, half of them slow",
    scene(
        "mariadb 10.11.18",
        {"long_query_time": "2.000000"},
        counters={"Slow_queries": 0.5, "Questions": 1},
        deliberate=True,
    ),
)
rule.passes(
    "One in a thousand",
    scene(
        "mysql 8.0.33",
        {"long_query_time": "1.000000"},
        counters={"Slow_queries": 2, "Questions": 2000},
        deliberate=True,
    ),
)
rule.passes(
    "None",
    scene("mariadb 10.11.18", counters={"Slow_queries": 0, "Questions": 100}, deliberate=True),
)
