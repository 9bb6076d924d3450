"""Instruments are on that cost a sixth of the server.

Why it matters
    wait/synch/% counts every mutex and lock inside the server, millions of times a second. With all instruments enabled
    a MySQL 5.7 lost 14.5 % of its transactions, timed 16.5 % (experiment E1: 10 threads, sysbench); with its
    defaults 3 %. They are for an hour of looking for contention, and then they are forgotten.

How it is computed
    From performance_schema.setup_instruments: a quarter or more of the instruments wait/synch/% is enabled. None is
    by default. A few dozen of them, chosen for a reason, are no fault.

When to dismiss it
    A trial runs, or someone looks for contention right now.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.facts.observability import PerformanceSchema
from advisor.engine.outcome import Finding, Item, Measured, Message, Passed, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import Investigate


@dataclass(frozen=True)
class Parameters(Thresholds):
    """How many of them are too many."""

    enabled_ratio: float = threshold(0.25, unit=Unit.RATIO, meaning="enabled instruments of wait/synch", leave_at=0.2)


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/performance-schema-instrument-filtering.html",
        "https://mariadb.com/docs/server/reference/system-tables/performance-schema/performance-schema-tables/performance-schema-setup_instruments-table",
    ],
)


@rule.check
def check(schema: PerformanceSchema, p: Parameters) -> Finding | Passed:
    there, enabled, timed = schema.of_class("wait/synch")
    figures = (
        Measured("instruments of mutexes and locks", there, Unit.COUNT, None, "setup_instruments"),
        Measured("of them enabled", enabled, Unit.COUNT, None, "setup_instruments"),
        Measured("of them timed", timed, Unit.COUNT, None, "setup_instruments"),
    )
    if not there or enabled < p.enabled_ratio * there:
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message(
                    "{enabled} of {there} instruments of mutexes and locks are enabled, {timed} of them timed",
                    {
                        "enabled": Quantity(enabled, Unit.COUNT),
                        "there": Quantity(there, Unit.COUNT),
                        "timed": Quantity(timed, Unit.COUNT),
                    },
                ),
                evidence=figures,
                proposal=(
                    Investigate(
                        "Save which are on, then: UPDATE performance_schema.setup_instruments SET ENABLED = 'NO', "
                        "TIMED = 'NO' WHERE NAME LIKE 'wait/synch/%', and take performance-schema-instrument lines for "
                        "them out of the option file."
                    ),
                ),
                expected=Message("Up to a sixth more transactions with the same processors."),
                would_change_our_mind=Message("Someone who looks for contention right now."),
            ),
        )
    )


_CONSUMERS = {"global_instrumentation": True, "thread_instrumentation": True, "statements_digest": True}
rule.fires(
    "All of them, timed",
    scene(
        "mysql 5.7.22",
        performance_schema={
            "enabled": True,
            "instruments": {"wait/synch": [270, 270, 270], "statement/sql": [150, 150, 150]},
            "consumers": _CONSUMERS,
        },
    ),
)
rule.fires(
    "Most of them on MariaDB, counted only",
    scene(
        "mariadb 10.11.18",
        {"performance_schema": "ON"},
        performance_schema={
            "enabled": True,
            "instruments": {"wait/synch": [300, 200, 0], "statement/sql": [150, 150, 150]},
            "consumers": _CONSUMERS,
        },
    ),
)
rule.passes(
    "As installed",
    scene(
        "mysql 8.0.33",
        performance_schema={
            "enabled": True,
            "instruments": {"wait/synch": [316, 0, 0], "statement/sql": [150, 150, 150]},
            "consumers": _CONSUMERS,
        },
    ),
)
rule.passes(
    "InnoDB's mutexes, chosen for a reason",
    scene(
        "mariadb 10.11.18",
        {"performance_schema": "ON"},
        performance_schema={
            "enabled": True,
            "instruments": {"wait/synch": [300, 29, 29], "statement/sql": [150, 150, 150]},
            "consumers": _CONSUMERS,
        },
    ),
)
