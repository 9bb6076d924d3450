"""New connections wait for their thread.

Why it matters
    A thread that takes seconds to start tells of a machine in trouble: no CPU left, swapping, or a limit on the
    number of processes. Clients see it as time-outs while they connect, and the statements of others run as if
    nothing were.

How it is computed
    Slow_launch_threads rose between full snapshots, at least once every ten minutes on average: that many threads
    took longer than slow_launch_time (2 seconds by default) to start.

When to dismiss it
    slow_launch_time was set to a fraction of its default on purpose.
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
class Launches(Rates):
    """Threads that were slow to start, and all that were created, per second."""

    slow_launch_threads: float
    threads_created: float


@dataclass(frozen=True)
class Parameters(Thresholds):
    """When threads start too slowly."""

    slow_per_second: float = threshold(
        1 / 600, unit=Unit.PER_SECOND, meaning="threads that were slow to start", leave_at=1 / 1800
    )


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/server-status-variables.html",
        "https://mariadb.com/docs/server/server-management/variables-and-modes/server-status-variables",
    ],
)


@rule.check
def check(seen: Launches, p: Parameters) -> Finding | Passed:
    figures = seen.measured()
    if seen.slow_launch_threads < p.slow_per_second:
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message(
                    "{slow} new threads a second were slow to start",
                    {"slow": Quantity(seen.slow_launch_threads, Unit.COUNT)},
                ),
                evidence=figures,
                proposal=(
                    Investigate(
                        "Look at the machine: CPU and swapping, limits on processes (ulimit -u, a container's pids "
                        "limit), and "
                        "how many clients connect at once."
                    ),
                ),
                would_change_our_mind=Message("A slow_launch_time that was made very short."),
            ),
        )
    )


rule.fires(
    "A machine without a free CPU",
    scene("mysql 8.0.33", counters={"Slow_launch_threads": 0.2, "Threads_created": 3}, deliberate=True),
)

rule.fires(
    "The same on MariaDB",
    scene("mariadb 10.11.18", counters={"Slow_launch_threads": 0.05, "Threads_created": 1}, deliberate=True),
)

rule.passes(
    "All start at once",
    scene("mysql 8.0.33", counters={"Slow_launch_threads": 0, "Threads_created": 3}, deliberate=True),
)

rule.passes(
    "No new threads",
    scene("mariadb 10.11.18", counters={"Slow_launch_threads": 0, "Threads_created": 0}, deliberate=True),
)
