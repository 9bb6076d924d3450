"""performance_schema takes a large part of memory for its own tables.

Why it matters
    performance_schema keeps what it counts in tables of fixed width in memory. Long histories, hundreds of
    thousands of statement digests or texts of many KiB multiply to gigabytes that are never given back before a
    restart, and that nobody sees among InnoDB's buffers.

How it is computed
    SHOW ENGINE PERFORMANCE_SCHEMA STATUS, read on inspection, tells more than 512 MiB, and more than a tenth of the
    host's memory where that is known (1 GiB where it is not). Long histories above 10,000 rows, more than 50,000
    digests and texts of more than 4 KiB are brought back to those sizes; where none of them is that large, a person
    has to look.

When to dismiss it
    A trial that needs these histories is running, or the memory is there for it.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.facts.memory import MemoryCeiling, PerformanceSchemaMemory
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import inspected, scene, stated
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import GIB, MIB, Quantity, Unit
from advisor.mysql.proposal import Change, Investigate, SetVariable


@dataclass(frozen=True)
class HistorySizes(Settings):
    """Rows of the tables that grow largest, and bytes of the texts in them."""

    performance_schema_events_statements_history_long_size: int = 0
    performance_schema_events_waits_history_long_size: int = 0
    performance_schema_events_stages_history_long_size: int = 0
    performance_schema_events_transactions_history_long_size: int = 0
    performance_schema_digests_size: int = 0
    performance_schema_max_digest_length: int = 0
    performance_schema_max_sql_text_length: int = 0


@dataclass(frozen=True)
class Parameters(Thresholds):
    """How much memory performance_schema may take."""

    smallest_bytes: float = threshold(
        512 * MIB,
        unit=Unit.BYTES,
        meaning="memory of performance_schema up to which nothing is said",
        leave_at=448 * MIB,
    )
    memory_ratio: float = threshold(
        0.1, unit=Unit.RATIO, meaning="the same as a share of the host's memory", leave_at=0.085
    )
    unknown_bytes: float = threshold(
        GIB, unit=Unit.BYTES, meaning="the same where the host's memory is not known", leave_at=900 * MIB
    )
    history_rows: float = threshold(10_000, unit=Unit.COUNT, meaning="rows of a long history that are enough")
    digests: float = threshold(50_000, unit=Unit.COUNT, meaning="statement digests that are enough")
    text_bytes: float = threshold(4096, unit=Unit.BYTES, meaning="bytes of a statement's text that are enough")


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    caused_by=[PerformanceSchemaMemory],
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/performance-schema-memory-model.html",
        "https://mariadb.com/docs/server/reference/system-tables/performance-schema/performance-schema-system-variables",
    ],
)


@rule.check
def check(
    taken: PerformanceSchemaMemory, sizes: HistorySizes, memory: MemoryCeiling, p: Parameters
) -> Finding | Passed:
    figures = taken.measured() + memory.measured() + sizes.measured()
    allowed = max(p.smallest_bytes, memory.share(p.memory_ratio, otherwise=int(p.unknown_bytes)))
    enough = {
        "performance_schema_events_statements_history_long_size": p.history_rows,
        "performance_schema_events_waits_history_long_size": p.history_rows,
        "performance_schema_events_stages_history_long_size": p.history_rows,
        "performance_schema_events_transactions_history_long_size": p.history_rows,
        "performance_schema_digests_size": p.digests,
        "performance_schema_max_digest_length": p.text_bytes,
        "performance_schema_max_sql_text_length": p.text_bytes,
    }
    large = {name: int(limit) for name, limit in enough.items() if getattr(sizes, name) > limit}
    if taken.bytes <= allowed:
        return Passed(figures)
    proposal: tuple[Change, ...] = tuple(SetVariable(name, limit) for name, limit in large.items()) or (
        Investigate("Find the largest of its buffers: SHOW ENGINE PERFORMANCE_SCHEMA STATUS lists them all."),
    )
    return Finding(
        (
            Item(
                message=Message(
                    "performance_schema takes {taken} of memory for itself",
                    {"taken": Quantity(taken.bytes, Unit.BYTES)},
                ),
                evidence=figures,
                proposal=proposal,
                expected=Message("That memory is there for others after the next restart.") if large else None,
                price=(Price(PriceKind.RESTART, Message("its tables are laid out at the start")),) if large else (),
                would_change_our_mind=Message("A trial for which these tables are needed."),
            ),
        )
    )


_HUGE = inspected(performance_schema_memory=[{"bytes": str(1700 * MIB)}])
_USUAL = inspected(performance_schema_memory=[{"bytes": str(230 * MIB)}])
rule.fires(
    "A million statements of history",
    scene(
        "mysql 8.0.33",
        {"performance_schema_events_statements_history_long_size": 1_000_000},
        inspection=_HUGE,
    ),
    proposes={"performance_schema_events_statements_history_long_size": 10_000},
)
rule.fires(
    "MariaDB with 200,000 digests on a host of 8 GiB",
    scene(
        "mariadb 10.11.18",
        {"performance_schema": "ON", "performance_schema_digests_size": 200_000},
        inspection=_HUGE,
        host=stated(memory_bytes=8 * GIB),
    ),
    proposes={"performance_schema_digests_size": 50_000},
)
rule.passes("What it takes by default", scene("mysql 8.0.33", inspection=_USUAL))
rule.passes(
    "1.7 GiB of 256 GiB",
    scene("mariadb 10.11.18", {"performance_schema": "ON"}, inspection=_HUGE, host=stated(memory_bytes=256 * GIB)),
)
