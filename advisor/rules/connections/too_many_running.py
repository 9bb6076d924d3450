"""Many more statements are at work than there are CPUs for.

Why it matters
    Statements that run at once beyond what CPUs and storage can do do not finish earlier: they take each other's
    caches and latches, and everybody's answer gets slower. Most often one of two things is behind it: a slow
    statement that many sessions run, or a lock that they all wait for.

How it is computed
    In half of the polls more than four threads for each CPU (as stated) were at work, and at least sixteen. Threads
    that wait for a lock count as well, as Threads_running counts them. MariaDB's thread pool would hold them back;
    on others a pool of connections in front does.

When to dismiss it
    A load test, or a burst of work that may take its time.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.facts.connections import RunningThreads
from advisor.engine.facts.memory import HostCpus
from advisor.engine.outcome import Finding, Item, Message, Passed, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene, stated
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import Investigate


@dataclass(frozen=True)
class Parameters(Thresholds):
    """How many threads at work are too many."""

    for_each_cpu: float = threshold(
        4, unit=Unit.RATIO, meaning="threads at work for each CPU, in half of the polls", leave_at=3.2
    )
    fewest: float = threshold(16, unit=Unit.COUNT, meaning="threads at work below which nothing is said", leave_at=13)


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/server-status-variables.html",
        "https://mariadb.com/docs/server/server-management/variables-and-modes/server-status-variables",
    ],
)


@rule.check
def check(running: RunningThreads, cpus: HostCpus, p: Parameters) -> Finding | Passed:
    figures = running.measured() + cpus.measured()
    if running.median < max(p.fewest, p.for_each_cpu * cpus.count):
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message(
                    "{running} threads are at work on {cpus} CPUs",
                    {"running": Quantity(running.median, Unit.COUNT), "cpus": Quantity(cpus.count, Unit.COUNT)},
                ),
                evidence=figures,
                proposal=(
                    Investigate(
                        "Look at what they do: the statements with the longest total time, and lock waits. Then let "
                        "fewer "
                        "in at once: a smaller pool of connections, or MariaDB's pool-of-threads."
                    ),
                ),
                would_change_our_mind=Message("A load test in the window."),
            ),
        )
    )


rule.fires(
    "60 threads on four CPUs",
    scene("mysql 8.0.33", gauges={"Threads_running": 60}, host=stated(cpus=4), deliberate=True),
)
rule.fires(
    "The same on MariaDB",
    scene("mariadb 10.11.18", gauges={"Threads_running": 40}, host=stated(cpus=4), deliberate=True),
)
rule.passes(
    "60 threads on 32 CPUs",
    scene("mysql 8.0.33", gauges={"Threads_running": 60}, host=stated(cpus=32), deliberate=True),
)
rule.passes(
    "Ten threads on one CPU",
    scene("mariadb 10.11.18", gauges={"Threads_running": 10}, host=stated(cpus=1), deliberate=True),
)
