"""Sorts do not fit into the sort buffer and are merged from files.

Why it matters
    A sort that is larger than sort_buffer_size writes sorted runs to temporary files and merges them, each pass once
    through all rows. Ten of these a second are noticed. Raising sort_buffer_size for everybody is the usual advice and
    a bad one: each sorting session allocates it, an index that gives the order needs none of it, and above some
    megabytes sorts get slower again.

How it is computed
    Sort_merge_passes grew by 10 a second or more between full snapshots. No global value is proposed, however often
    this is found: first an index in the order that is asked for, then fewer or shorter columns, then up to 4 MiB of
    sort_buffer_size in the session (MySQL: SET_VAR hint) of the statement that was measured to gain by it.

When to dismiss it
    Reports at night which may take their time.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Rates, Settings
from advisor.engine.outcome import Finding, Item, Message, Passed, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import MIB, Quantity, Unit
from advisor.mysql.proposal import Investigate


@dataclass(frozen=True)
class SortBuffer(Settings):
    """What one sort may take in memory, in bytes."""

    sort_buffer_size: int


@dataclass(frozen=True)
class Sorts(Rates):
    """Merge passes, sorts and sorted rows per second."""

    sort_merge_passes: float
    sort_range: float
    sort_scan: float
    sort_rows: float


@dataclass(frozen=True)
class Parameters(Thresholds):
    """When sorts spill too often."""

    passes_per_second: float = threshold(10.0, unit=Unit.PER_SECOND, meaning="merge passes of sorts", leave_at=8.0)


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/order-by-optimization.html",
        "https://mariadb.com/docs/server/ha-and-performance/optimization-and-tuning/system-variables/server-status-variables",
    ],
)


@rule.check
def check(buffer: SortBuffer, sorts: Sorts, p: Parameters) -> Finding | Passed:
    figures = sorts.measured() + buffer.measured()
    if sorts.sort_merge_passes < p.passes_per_second:
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message(
                    "Sorts are merged from files {rate} times a second",
                    {"rate": Quantity(sorts.sort_merge_passes, Unit.COUNT)},
                ),
                evidence=figures,
                proposal=(
                    Investigate(
                        "Find the statements by their digests (SUM_SORT_MERGE_PASSES). Give them an index in the order "
                        "they ask for; else select fewer columns; else raise sort_buffer_size in their session, to "
                        "4 MiB at most, and measure it."
                    ),
                ),
                expected=Message("Rows come in order from an index, or are sorted in memory."),
                would_change_our_mind=Message("Reports that may take their time."),
            ),
        )
    )


rule.fires(
    "MySQL with the default 256 KiB",
    scene(
        "mysql 8.0.33",
        counters={"Sort_merge_passes": 60, "Sort_range": 5, "Sort_scan": 15, "Sort_rows": 90_000},
        deliberate=True,
    ),
)
rule.fires(
    "Even with 64 MiB for each session: no more is proposed",
    scene(
        "mariadb 10.11.18",
        {"sort_buffer_size": 64 * MIB},
        counters={"Sort_merge_passes": 20, "Sort_range": 1, "Sort_scan": 3, "Sort_rows": 900_000},
        deliberate=True,
    ),
)
rule.passes(
    "Many sorts in memory",
    scene(
        "mysql 8.0.33",
        counters={"Sort_merge_passes": 0, "Sort_range": 500, "Sort_scan": 15, "Sort_rows": 9_000},
        deliberate=True,
    ),
)
rule.passes(
    "A spill now and then",
    scene(
        "mariadb 10.11.18",
        counters={"Sort_merge_passes": 1, "Sort_range": 5, "Sort_scan": 5, "Sort_rows": 9_000},
        deliberate=True,
    ),
)
