"""Rows are inserted one by one, each in a transaction of its own.

Why it matters
    Each autocommitted INSERT waits until the device has written its redo, and its binary log where there is one. A
    hundred rows in one statement, or in one transaction, wait once: loads of that kind get ten to fifty times
    faster without any setting being touched, and write a third of the redo on MySQL 5.7 and MariaDB before 10.8.

How it is computed
    Com_insert grew by 200 a second or more with fewer than two written rows (Handler_write) each, while there were
    fewer than a tenth as many COMMIT and BEGIN statements, and innodb_flush_log_at_trx_commit is 1, so that each commit
    waits.

When to dismiss it
    The rows come one by one from many users, each of whom has to know that his own is safe.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Rates, Settings
from advisor.engine.outcome import Finding, Item, Message, Passed, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import Investigate


@dataclass(frozen=True)
class CommitWaits(Settings):
    """Whether each commit waits for the device."""

    innodb_flush_log_at_trx_commit: int


@dataclass(frozen=True)
class Inserts(Rates):
    """INSERT statements, rows written and explicit transactions per second."""

    com_insert: float
    handler_write: float
    com_commit: float
    com_begin: float


@dataclass(frozen=True)
class Parameters(Thresholds):
    """When batching would pay."""

    inserts_per_second: float = threshold(200.0, unit=Unit.PER_SECOND, meaning="INSERT statements", leave_at=160.0)
    rows_per_insert: float = threshold(2.0, unit=Unit.COUNT, meaning="rows of each, more are no fault", leave_at=2.4)
    transaction_ratio: float = threshold(
        0.1, unit=Unit.RATIO, meaning="explicit transactions for each INSERT, more are no fault", leave_at=0.12
    )


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/insert-optimization.html",
        "https://mariadb.com/docs/server/ha-and-performance/optimization-and-tuning/query-optimizations/how-to-quickly-insert-data-into-mariadb",
    ],
)


@rule.check
def check(waits: CommitWaits, rates: Inserts, p: Parameters) -> Finding | Passed:
    figures = rates.measured() + waits.measured()
    single = (
        rates.com_insert >= p.inserts_per_second
        and rates.handler_write < p.rows_per_insert * rates.com_insert
        and max(rates.com_commit, rates.com_begin) < p.transaction_ratio * rates.com_insert
    )
    if not single or waits.innodb_flush_log_at_trx_commit != 1:
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message(
                    "{rate} rows a second are inserted one by one, each in its own transaction",
                    {"rate": Quantity(rates.com_insert, Unit.COUNT)},
                ),
                evidence=figures,
                proposal=(
                    Investigate(
                        "Where one program inserts many rows: gather some hundred of them in one INSERT, or put BEGIN "
                        "and COMMIT around them. Leave the durability settings as they are."
                    ),
                ),
                expected=Message("One wait for the device for some hundred rows instead of one for each."),
                would_change_our_mind=Message("Rows of many users, each of whom waits for his own."),
            ),
        )
    )


rule.fires(
    "A loader with autocommit",
    scene(
        "mysql 8.0.33",
        counters={"Com_insert": 900, "Handler_write": 900, "Com_commit": 0, "Com_begin": 0},
        deliberate=True,
    ),
)
rule.fires(
    "The same on MariaDB",
    scene(
        "mariadb 10.11.18",
        counters={"Com_insert": 300, "Handler_write": 310, "Com_commit": 2, "Com_begin": 2},
        deliberate=True,
    ),
)
rule.passes(
    "A hundred rows in each statement",
    scene(
        "mysql 8.0.33",
        counters={"Com_insert": 300, "Handler_write": 30_000, "Com_commit": 0, "Com_begin": 0},
        deliberate=True,
    ),
)
rule.passes(
    "Within transactions",
    scene(
        "mariadb 10.11.18",
        counters={"Com_insert": 900, "Handler_write": 900, "Com_commit": 120, "Com_begin": 120},
        deliberate=True,
    ),
)
