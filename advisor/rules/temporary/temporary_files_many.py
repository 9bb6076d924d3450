"""Temporary files are created many times a second.

Why it matters
    Sorts that do not fit into their buffer, transactions larger than the binary log's cache, and ALTER TABLE write
    temporary files. Each is created, written, read back and removed while a statement waits; on a slow tmpdir that is
    most of its time.

How it is computed
    Created_tmp_files grew by 5 a second or more between full snapshots. Sort_merge_passes and Binlog_cache_disk_use of
    the same time stand beside it and tell which of the two it was.

When to dismiss it
    A nightly job or an import makes them, or tmpdir is in memory with room to spare.
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
class TemporaryFiles(Rates):
    """Temporary files per second, and the two usual reasons."""

    created_tmp_files: float
    sort_merge_passes: float
    binlog_cache_disk_use: float = 0.0


@dataclass(frozen=True)
class Parameters(Thresholds):
    """How many are too many."""

    files_per_second: float = threshold(5.0, unit=Unit.PER_SECOND, meaning="temporary files created", leave_at=4.0)


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/temporary-files.html",
        "https://mariadb.com/docs/server/ha-and-performance/optimization-and-tuning/system-variables/server-status-variables",
    ],
)


@rule.check
def check(files: TemporaryFiles, p: Parameters) -> Finding | Passed:
    if files.created_tmp_files < p.files_per_second:
        return Passed(files.measured())
    advice = (
        "Sorts spill: find their statements by digest (SUM_SORT_MERGE_PASSES) and give them an index to read in order."
        if files.sort_merge_passes > files.binlog_cache_disk_use
        else "Look for transactions larger than binlog_cache_size and for ALTER TABLE that copies, and spread them out."
    )
    return Finding(
        (
            Item(
                message=Message(
                    "{rate} temporary files a second", {"rate": Quantity(files.created_tmp_files, Unit.COUNT)}
                ),
                evidence=files.measured(),
                proposal=(Investigate(advice),),
                expected=Message("Statements no longer wait for files that live for a moment."),
                would_change_our_mind=Message("A tmpdir in memory with room to spare."),
            ),
        )
    )


rule.fires(
    "Sorts that spill",
    scene(
        "mariadb 10.11.18",
        counters={"Created_tmp_files": 40, "Sort_merge_passes": 30, "Binlog_cache_disk_use": 0},
        deliberate=True,
    ),
)
rule.fires(
    "Transactions larger than the binary log's cache",
    scene(
        "mysql 8.0.33",
        counters={"Created_tmp_files": 12, "Sort_merge_passes": 0, "Binlog_cache_disk_use": 12},
        deliberate=True,
    ),
)
rule.passes(
    "Hardly any",
    scene("mysql 8.0.33", counters={"Created_tmp_files": 0.2, "Sort_merge_passes": 0.1}, deliberate=True),
)
rule.passes(
    "A few a second on MariaDB",
    scene("mariadb 10.11.18", counters={"Created_tmp_files": 2, "Sort_merge_passes": 1}, deliberate=True),
)
