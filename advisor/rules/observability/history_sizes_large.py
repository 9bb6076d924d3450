"""performance_schema sets memory aside for very long histories.

Why it matters
    The histories of events are allocated when the server starts, whether or not their consumers are on: each row of a
    statement's history holds its text and digest and takes 2 to 4 KiB, so that a million rows are some GB that nothing
    else can use. A history for each thread is multiplied by all threads there may be.

How it is computed
    From settings alone: one of the performance_schema_events_..._history_long_size is above 100,000 rows, or one of the
    ..._history_size above 100 rows for each thread. The defaults of a large server, 10,000 and 10, are proposed.

When to dismiss it
    Something reads these histories once a minute and misses nothing by it, and the memory is there.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class Histories(Settings):
    """Rows of the histories: in all (long), and for each thread."""

    performance_schema: bool
    performance_schema_events_statements_history_long_size: int
    performance_schema_events_statements_history_size: int
    performance_schema_events_waits_history_long_size: int
    performance_schema_events_waits_history_size: int
    performance_schema_events_stages_history_long_size: int
    performance_schema_events_stages_history_size: int
    performance_schema_events_transactions_history_long_size: int = 0
    performance_schema_events_transactions_history_size: int = 0

    def larger_than(self, long: float, by_thread: float) -> dict[str, int]:
        """The histories that are larger, with their rows."""
        found = {}
        for name in self.__dataclass_fields__:
            rows = int(getattr(self, name))
            if name != "performance_schema" and rows > (long if name.endswith("_long_size") else by_thread):
                found[name] = rows
        return found


@dataclass(frozen=True)
class Parameters(Thresholds):
    """What is very long."""

    long_rows: float = threshold(100_000, unit=Unit.COUNT, meaning="rows of a history of all threads")
    thread_rows: float = threshold(100, unit=Unit.COUNT, meaning="rows of the history of each thread")


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/performance-schema-system-variables.html",
        "https://mariadb.com/docs/server/reference/system-tables/performance-schema/performance-schema-system-variables",
    ],
)


@rule.check
def check(histories: Histories, p: Parameters) -> Finding | Passed:
    large = histories.larger_than(p.long_rows, p.thread_rows)
    if not histories.performance_schema or not large:
        return Passed(histories.measured())
    first = max(large, key=lambda name: large[name])
    return Finding(
        (
            Item(
                message=Message(
                    "{name} = {rows}: its memory is set aside at the start",
                    {"name": Quantity(first, Unit.TEXT), "rows": Quantity(large[first], Unit.COUNT)},
                ),
                evidence=histories.measured(*large),
                proposal=tuple(
                    SetVariable(name, 10_000 if name.endswith("_long_size") else 10) for name in sorted(large)
                ),
                expected=Message("The memory is there for something that is used."),
                price=(
                    Price(PriceKind.RESTART, Message("it is allocated when the server starts")),
                    Price(PriceKind.OVERHEAD, Message("older events are overwritten sooner")),
                ),
                would_change_our_mind=Message("Something that reads these histories, and memory for them."),
            ),
        )
    )


rule.fires(
    "A million statements",
    scene("mysql 8.0.33", {"performance_schema_events_statements_history_long_size": 1_000_000}),
    proposes={"performance_schema_events_statements_history_long_size": 10_000},
)
rule.fires(
    "A thousand waits of each thread on MariaDB",
    scene("mariadb 10.11.18", {"performance_schema": "ON", "performance_schema_events_waits_history_size": 1000}),
    proposes={"performance_schema_events_waits_history_size": 10},
)
rule.passes("As installed", scene("mysql 8.0.33"))
rule.passes(
    "Large, but performance_schema is off",
    scene("mariadb 10.11.18", {"performance_schema_events_waits_history_size": 1000}),
)
rule.passes(
    "As installed, and on",
    scene("mariadb 10.11.18", {"performance_schema": "ON"}),
)
