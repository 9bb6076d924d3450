"""Purge has fewer threads than by default while many rows change.

Why it matters
    Purge removes what updates and deletes leave behind: old versions, and the index entries of deleted rows. One thread
    follows some thousand changes a second; with more writers than that the history grows under load, and reads get
    slower with it.

How it is computed
    innodb_purge_threads is below 4, the default up to MySQL 8.3 and on MariaDB, and at least 100 rows a second are
    updated or deleted between full snapshots. It is set to 4. From MySQL 8.4 on the default follows the CPUs, and 1 is
    right on a small machine.

When to dismiss it
    The history list stays short under the highest load.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Rates, Settings
from advisor.engine.facts.redo import OwnRedoLog
from advisor.engine.outcome import (
    Finding,
    Item,
    Message,
    Passed,
    Price,
    PriceKind,
    Severity,
)
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class PurgeThreads(Settings):
    """Threads that purge."""

    innodb_purge_threads: int


@dataclass(frozen=True)
class Changes(Rates):
    """Rows that leave an old version behind, per second."""

    handler_update: float
    handler_delete: float


@dataclass(frozen=True)
class Parameters(Thresholds):
    """When purge has too few threads."""

    threads: float = threshold(4, unit=Unit.COUNT, meaning="innodb_purge_threads at least")
    rows_per_second: float = threshold(
        100, unit=Unit.PER_SECOND, meaning="rows updated and deleted from which it matters", leave_at=60
    )


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7,<8.4", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    raises=["innodb_purge_threads"],
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-purge-configuration.html",
        "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-purge",
    ],
)


@rule.check
def check(purge: PurgeThreads, changes: Changes, _log: OwnRedoLog, p: Parameters) -> Finding | Passed:
    figures = purge.measured() + changes.measured()
    rows = changes.handler_update + changes.handler_delete
    if purge.innodb_purge_threads >= p.threads or rows < p.rows_per_second:
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message(
                    "{threads} of usually {usual} threads purge what {rows} changed rows a second leave behind",
                    {
                        "threads": Quantity(purge.innodb_purge_threads, Unit.COUNT),
                        "usual": Quantity(int(p.threads), Unit.COUNT),
                        "rows": Quantity(rows, Unit.COUNT),
                    },
                ),
                evidence=figures,
                proposal=(SetVariable("innodb_purge_threads", int(p.threads)),),
                expected=Message("The history stays short under load."),
                price=(Price(PriceKind.OVERHEAD, Message("purge may use more CPUs while rows change")),),
                would_change_our_mind=Message("A history list that stays below some thousands in the busiest hour."),
            ),
        )
    )


_CHANGES = {"Handler_update": 2500, "Handler_delete": 300}
rule.fires(
    "One thread on MySQL 5.7",
    scene("mysql 5.7.22", {"innodb_purge_threads": 1}, counters=_CHANGES, deliberate=True),
    proposes={"innodb_purge_threads": 4},
)
rule.fires(
    "Two on MariaDB 11.4, which takes more while it runs",
    scene("mariadb 11.4.5", {"innodb_purge_threads": 2}, counters=_CHANGES, deliberate=True),
    proposes={"innodb_purge_threads": 4},
)
rule.passes(
    "The default of MySQL 8.0",
    scene("mysql 8.0.33", {"innodb_purge_threads": 4}, counters=_CHANGES, deliberate=True),
)
rule.passes(
    "The default of MariaDB",
    scene("mariadb 10.11.18", {"innodb_purge_threads": 4}, counters=_CHANGES, deliberate=True),
)
rule.passes(
    "One thread where rows are only inserted",
    scene(
        "mysql 5.7.22",
        {"innodb_purge_threads": 1},
        counters={"Handler_update": 2, "Handler_delete": 0},
        deliberate=True,
    ),
)
