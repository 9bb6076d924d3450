"""Whole tables are read again and again.

Why it matters
    A statement without a usable index reads every row of its table. A core reads a million or two rows a second and
    does nothing else meanwhile; the pages go through the buffer pool and push out what others need.

How it is computed
    Handler_read_rnd_next grew by 100,000 rows a second or more, and Select_scan by one statement a second or more, each
    of which read 1,000 rows or more on average: many scans of tiny tables are no fault, and neither is one report that
    runs for a minute.

When to dismiss it
    The server is for reporting, and reading whole tables is its work.
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
class Scans(Rates):
    """Rows read in table order, and statements that read their first table as a whole, per second."""

    handler_read_rnd_next: float
    select_scan: float
    handler_read_first: float


@dataclass(frozen=True)
class Parameters(Thresholds):
    """When scans matter."""

    rows_per_second: float = threshold(
        100_000.0, unit=Unit.PER_SECOND, meaning="rows read in table order", leave_at=80_000.0
    )
    scans_per_second: float = threshold(1.0, unit=Unit.PER_SECOND, meaning="statements that scan", leave_at=0.8)
    rows_per_scan: float = threshold(1000.0, unit=Unit.COUNT, meaning="rows read by each of them", leave_at=800.0)


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/table-scan-avoidance.html",
        "https://mariadb.com/docs/server/ha-and-performance/optimization-and-tuning/system-variables/server-status-variables",
    ],
)


@rule.check
def check(scans: Scans, p: Parameters) -> Finding | Passed:
    many = scans.handler_read_rnd_next >= p.rows_per_second and scans.select_scan >= p.scans_per_second
    if not many or scans.handler_read_rnd_next < p.rows_per_scan * scans.select_scan:
        return Passed(scans.measured())
    return Finding(
        (
            Item(
                message=Message(
                    "{scans} statements a second read whole tables, {rows} rows a second in all",
                    {
                        "scans": Quantity(scans.select_scan, Unit.COUNT),
                        "rows": Quantity(scans.handler_read_rnd_next, Unit.COUNT),
                    },
                ),
                evidence=scans.measured(),
                proposal=(
                    Investigate(
                        "Find the statements by their digests (SUM_NO_INDEX_USED, SUM_ROWS_EXAMINED against "
                        "SUM_ROWS_SENT) and index what they search by."
                    ),
                ),
                expected=Message("Statements read the rows that they return, and little more."),
                would_change_our_mind=Message("A server whose work is to read whole tables."),
            ),
        )
    )


rule.fires(
    "Fifty scans a second of a table of 20,000 rows",
    scene(
        "mysql 8.0.33",
        counters={"Handler_read_rnd_next": 1_000_000, "Select_scan": 50, "Handler_read_first": 50},
        deliberate=True,
    ),
)
rule.fires(
    "The same on MariaDB",
    scene(
        "mariadb 10.11.18",
        counters={"Handler_read_rnd_next": 400_000, "Select_scan": 2, "Handler_read_first": 0},
        deliberate=True,
    ),
)
rule.passes(
    "Many scans of tables of a few rows",
    scene(
        "mysql 8.0.33",
        counters={"Handler_read_rnd_next": 120_000, "Select_scan": 3000, "Handler_read_first": 3000},
        deliberate=True,
    ),
)
rule.passes(
    "One report that reads a large table",
    scene(
        "mariadb 10.11.18",
        counters={"Handler_read_rnd_next": 900_000, "Select_scan": 0.02, "Handler_read_first": 0},
        deliberate=True,
    ),
)
