"""The next version is slower for few concurrent statements.

Why it matters
    From MySQL 5.7 to 8.0 single statements got dearer: about a fifth for point reads, 15 to 20 % for ranges and a
    quarter to a third for writes, while many concurrent sessions got faster. A server on which few statements run at a
    time notices the first and not the second.

How it is computed
    The support of this version ends within a year or is over, so that the upgrade has to be planned; at least 50
    statements a second were executed; and the 95th percentile of the threads that ran at once is at most 4. The
    figures are those of published sysbench series on cached data: expected, not measured here.

When to dismiss it
    The workload was tried on both versions and the difference does not matter.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.facts.upgrade import Concurrency
from advisor.engine.facts.version import VersionLife
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import DAY, Quantity, Unit
from advisor.mysql.proposal import UpgradeAdvice


@dataclass(frozen=True)
class Parameters(Thresholds):
    """What low concurrency is, and when an upgrade has to be planned."""

    running: float = threshold(
        4, unit=Unit.COUNT, meaning="95th percentile of threads running at once, at most", leave_at=5
    )
    statements_per_second: float = threshold(
        50, unit=Unit.PER_SECOND, meaning="statements below which nobody notices", leave_at=40
    )
    planning_seconds: float = threshold(
        365 * DAY, unit=Unit.SECONDS, meaning="time before the end of support from which an upgrade is planned"
    )


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7,<8.0"],
    since="0.2",
    parameters=Parameters(),
    references=["https://dev.mysql.com/doc/refman/8.0/en/upgrading-from-previous-series.html"],
)


@rule.check
def check(life: VersionLife, load: Concurrency, p: Parameters) -> Finding | Passed:
    figures = life.measured() + load.measured()
    if (
        life.days_left * DAY > p.planning_seconds
        or load.p95_running > p.running
        or load.questions_per_second < p.statements_per_second
    ):
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message(
                    "At most {running} statements run at a time: MySQL 8.0 is expected to be slower here",
                    {"running": Quantity(max(load.p95_running, 1), Unit.COUNT)},
                ),
                evidence=figures,
                proposal=(
                    UpgradeAdvice(
                        "8.0",
                        "try the workload on a copy first: point reads -20 %, ranges -15 to -20 %, writes -25 to -35 % "
                        "are expected at low concurrency; batch inserts in several threads, and try "
                        "innodb_log_writer_threads = OFF there",
                    ),
                ),
                price=(Price(PriceKind.READ_LATENCY, Message("single statements take longer after the upgrade")),),
                would_change_our_mind=Message("A trial on both versions with your own statements."),
            ),
        )
    )


_BUSY = {"Questions": 400}
rule.fires(
    "MySQL 5.7 with two statements at a time",
    scene("mysql 5.7.22", counters=_BUSY, gauges={"Threads_running": 3}, deliberate=True),
)
rule.passes(
    "MySQL 5.7 with thirty statements at a time",
    scene("mysql 5.7.22", counters=_BUSY, gauges={"Threads_running": 31}, deliberate=True),
)
rule.passes(
    "MySQL 5.7 that is hardly used",
    scene("mysql 5.7.22", counters={"Questions": 4}, gauges={"Threads_running": 2}, deliberate=True),
)
