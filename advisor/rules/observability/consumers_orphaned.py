"""Consumers of performance_schema are on that get nothing.

Why it matters
    Consumers form a tree: a history gets only what the table of current events got, and that only where threads are
    instrumented at all. One that is on below one that is off collects nothing, and whoever switched it on waits for
    rows that never come.

How it is computed
    From performance_schema.setup_consumers: for each consumer that is on, whether all above it are
    (global_instrumentation, thread_instrumentation, events_..._current). Which of the two was meant cannot be told from
    outside, so that no switch is proposed: the ones above cost something.

When to dismiss it
    The ones above are switched on when they are needed.
"""

from __future__ import annotations

from advisor.engine.facts.observability import PerformanceSchema
from advisor.engine.outcome import Finding, Item, Measured, Message, Passed, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import Investigate

rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/performance-schema-consumer-filtering.html",
        "https://mariadb.com/docs/server/reference/system-tables/performance-schema/performance-schema-tables/performance-schema-setup_consumers-table",
    ],
)


@rule.check
def check(schema: PerformanceSchema) -> Finding | Passed:
    on = sum(schema.consumers.values())
    figures = (
        Measured("consumers that are on", on, Unit.COUNT, None, "setup_consumers"),
        Measured("of them without anything to get", len(schema.orphans), Unit.COUNT, None, "setup_consumers"),
    )
    if not schema.orphans:
        return Passed(figures)
    first, above = schema.orphans[0]
    return Finding(
        (
            Item(
                message=Message(
                    "{count} consumers get nothing: {first} is on and {above} is off",
                    {
                        "count": Quantity(len(schema.orphans), Unit.COUNT),
                        "first": Quantity(first, Unit.TEXT),
                        "above": Quantity(above, Unit.TEXT),
                    },
                ),
                evidence=figures,
                proposal=(
                    Investigate(
                        "Decide what was meant: switch off "
                        + ", ".join(name for name, _ in schema.orphans)
                        + ", or switch on what is off above them: "
                        + ", ".join(sorted({above for _, above in schema.orphans}))
                        + " (performance_schema.setup_consumers, and performance-schema-consumer-... in the option "
                        "file)."
                    ),
                ),
                expected=Message("What is switched on is there when it is looked for."),
                would_change_our_mind=Message("Consumers above that are switched on when they are needed."),
            ),
        )
    )


_DEFAULT = {
    "global_instrumentation": True,
    "thread_instrumentation": True,
    "statements_digest": True,
    "events_statements_current": True,
    "events_statements_history": True,
    "events_waits_current": False,
    "events_waits_history": False,
}
rule.fires(
    "A history of waits without waits",
    scene(
        "mysql 8.0.33",
        performance_schema={"enabled": True, "consumers": {**_DEFAULT, "events_waits_history": True}},
    ),
)
rule.fires(
    "Everything below a switch that is off",
    scene(
        "mariadb 10.11.18",
        {"performance_schema": "ON"},
        performance_schema={"enabled": True, "consumers": {**_DEFAULT, "global_instrumentation": False}},
    ),
)
rule.passes("As installed", scene("mysql 8.0.33", performance_schema={"enabled": True, "consumers": _DEFAULT}))
rule.passes(
    "As installed, MariaDB",
    scene(
        "mariadb 10.11.18",
        {"performance_schema": "ON"},
        performance_schema={
            "enabled": True,
            "consumers": {
                "global_instrumentation": True,
                "thread_instrumentation": True,
                "statements_digest": True,
                "events_statements_current": False,
            },
        },
    ),
)
