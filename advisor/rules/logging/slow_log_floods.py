"""The slow query log is written many times a second.

Why it matters
    Each entry is written under a lock, and a log of everything fills its disk: 50 entries of 500 bytes a second are
    2 GB a day. It also hides what it was meant to show.

How it is computed
    slow_query_log is ON and Slow_queries grew by 50 a second or more. Where long_query_time is below a second, 1 s is
    proposed; where it is not, the statements really are slow and are to be looked at. Entries of statements without an
    index (log_queries_not_using_indexes) have a rule of their own.

When to dismiss it
    Someone collects all statements for an hour, to look at them, and switches it off afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import HarmRates
from advisor.engine.facts.statements import SlowLog
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import Change, Investigate, SetVariable


@dataclass(frozen=True)
class Entries(HarmRates):
    """Statements that go into the slow query log, per second."""

    slow_queries: float


@dataclass(frozen=True)
class Parameters(Thresholds):
    """When it is a flood."""

    entries_per_second: float = threshold(
        50.0, unit=Unit.PER_SECOND, meaning="entries of the slow query log", leave_at=40.0
    )


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    caused_by=[Entries],
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/slow-query-log.html",
        "https://mariadb.com/docs/server/server-management/server-monitoring-logs/slow-query-log/slow-query-log-overview",
    ],
)


@rule.check
def check(log: SlowLog, entries: Entries, p: Parameters) -> Finding | Passed:
    figures = log.measured() + entries.measured()
    few = entries.slow_queries < p.entries_per_second
    if not log.slow_query_log or few or log.log_queries_not_using_indexes:
        return Passed(figures)
    proposal: tuple[Change, ...] = (SetVariable("long_query_time", 1),)
    if log.long_query_time >= 1:
        proposal = (
            Investigate(
                "Take the statements with the most time from the log and look at their plans: these many are slow."
            ),
        )
    return Finding(
        (
            Item(
                message=Message(
                    "{rate} statements a second go into the slow query log",
                    {"rate": Quantity(entries.slow_queries, Unit.COUNT)},
                ),
                evidence=figures,
                proposal=proposal,
                expected=Message("The log can be read, and does not fill its disk."),
                price=(Price(PriceKind.OVERHEAD, Message("statements below the threshold are no longer in the log")),),
                would_change_our_mind=Message("Someone who collects all statements for an hour."),
            ),
        )
    )


rule.fires(
    "Everything is logged",
    scene(
        "mysql 8.0.33",
        {"slow_query_log": "ON", "long_query_time": "0.000000"},
        counters={"Slow_queries": 900},
        deliberate=True,
    ),
    proposes={"long_query_time": 1},
)
rule.fires(
    "A hundred a second really are slow",
    scene(
        "mariadb 10.11.18",
        {"slow_query_log": "ON", "long_query_time": "1.000000"},
        counters={"Slow_queries": 100},
        deliberate=True,
    ),
)
rule.passes(
    "A few",
    scene(
        "mysql 8.0.33",
        {"slow_query_log": "ON", "long_query_time": "0.500000"},
        counters={"Slow_queries": 2},
        deliberate=True,
    ),
)
rule.passes(
    "Off: nothing is written",
    scene("mariadb 10.11.18", {"long_query_time": "0.000000"}, counters={"Slow_queries": 900}, deliberate=True),
)
