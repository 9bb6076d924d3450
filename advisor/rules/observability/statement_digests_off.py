"""performance_schema runs, and statements are not added up.

Why it matters
    The digests of statements are the most useful thing in performance_schema and among the cheapest: which statements
    take the time, read the rows, spill to disk. With the consumer statements_digest off, or the statements'
    instruments, its memory is spent and the question stays open.

How it is computed
    From performance_schema.setup_consumers and setup_instruments: statements_digest (or global_instrumentation above
    it) is off, or fewer than half of the instruments statement/% are enabled. All are on by default.

When to dismiss it
    Something else adds up the statements (a proxy), and these were switched off for its sake.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.facts.observability import PerformanceSchema
from advisor.engine.outcome import Finding, Item, Measured, Message, Passed, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import Unit
from advisor.mysql.proposal import Investigate


@dataclass(frozen=True)
class Parameters(Thresholds):
    """How many instruments make digests whole."""

    enabled_ratio: float = threshold(
        0.5, unit=Unit.RATIO, meaning="enabled instruments of statements, fewer are too few", leave_at=0.5
    )


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/performance-schema-statement-digests.html",
        "https://mariadb.com/docs/server/reference/system-tables/performance-schema/performance-schema-tables/performance-schema-setup_consumers-table",
    ],
)


@rule.check
def check(schema: PerformanceSchema, p: Parameters) -> Finding | Passed:
    there, enabled, _ = schema.of_class("statement/")
    consumed = schema.consumers.get("statements_digest", True) and schema.consumers.get("global_instrumentation", True)
    figures = (
        Measured("consumer statements_digest", "ON" if consumed else "OFF", Unit.TEXT, None, "setup_consumers"),
        Measured("instruments of statements", there, Unit.COUNT, None, "setup_instruments"),
        Measured("of them enabled", enabled, Unit.COUNT, None, "setup_instruments"),
    )
    if consumed and enabled >= p.enabled_ratio * there:
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message("performance_schema runs, and statements are not added up by their digests"),
                evidence=figures,
                proposal=(
                    Investigate(
                        "UPDATE performance_schema.setup_consumers SET ENABLED = 'YES' WHERE NAME IN "
                        "('global_instrumentation', 'statements_digest'); UPDATE performance_schema.setup_instruments "
                        "SET ENABLED = 'YES', TIMED = 'YES' WHERE NAME LIKE 'statement/%'; and without the option-file "
                        "lines that switch them off, at the next start."
                        if not consumed
                        else "UPDATE performance_schema.setup_instruments SET ENABLED = 'YES', TIMED = 'YES' WHERE "
                        "NAME LIKE 'statement/%', and take the option-file lines out that switch them off."
                    ),
                ),
                expected=Message("It can be seen which statements take the time."),
                would_change_our_mind=Message("Something else that adds up the statements."),
            ),
        )
    )


_INSTRUMENTS = {"statement/sql": [150, 150, 150], "statement/com": [30, 30, 30], "wait/io": [53, 53, 53]}
_CONSUMERS = {"global_instrumentation": True, "thread_instrumentation": True, "statements_digest": True}
rule.fires(
    "The consumer is off",
    scene(
        "mysql 8.0.33",
        performance_schema={
            "enabled": True,
            "instruments": _INSTRUMENTS,
            "consumers": {**_CONSUMERS, "statements_digest": False},
        },
    ),
)
rule.fires(
    "The instruments are off",
    scene(
        "mariadb 10.11.18",
        {"performance_schema": "ON"},
        performance_schema={
            "enabled": True,
            "instruments": {**_INSTRUMENTS, "statement/sql": [150, 0, 0]},
            "consumers": _CONSUMERS,
        },
    ),
)
rule.passes(
    "As installed",
    scene(
        "mysql 8.0.33",
        performance_schema={"enabled": True, "instruments": _INSTRUMENTS, "consumers": _CONSUMERS},
    ),
)
rule.passes(
    "As installed, MariaDB",
    scene(
        "mariadb 10.11.18",
        {"performance_schema": "ON"},
        performance_schema={"enabled": True, "instruments": _INSTRUMENTS, "consumers": _CONSUMERS},
    ),
)
