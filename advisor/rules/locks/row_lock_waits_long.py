"""Sessions wait for each other's row locks most of the time.

Why it matters
    A session that waits for a row does nothing and holds what it has locked itself, so that others wait for it in
    turn. No setting helps: it is transactions that stay open too long, touch rows in different orders, or all want
    the same row.

How it is computed
    Innodb_row_lock_time grew, between full snapshots, by a second or more for each second: on average one session
    or more was waiting. A wait is counted when it ends.

When to dismiss it
    One job that is allowed to hold others up ran in the window.
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
class Waits(Rates):
    """Row lock waits that ended, and milliseconds waited, per second."""

    innodb_row_lock_waits: float
    innodb_row_lock_time: float

    @property
    def waiting(self) -> float:
        """How many sessions were waiting, on average."""
        return self.innodb_row_lock_time / 1000


@dataclass(frozen=True)
class Parameters(Thresholds):
    """When too many wait."""

    waiting: float = threshold(
        1.0, unit=Unit.COUNT, meaning="sessions that wait for a row lock, on average", leave_at=0.7
    )


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-locking.html",
        "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-lock-modes",
    ],
)


@rule.check
def check(waits: Waits, p: Parameters) -> Finding | Passed:
    figures = waits.measured()
    if waits.waiting < p.waiting:
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message(
                    "{waiting} sessions are waiting for row locks on average",
                    {"waiting": Quantity(waits.waiting, Unit.COUNT)},
                ),
                evidence=figures,
                proposal=(
                    Investigate(
                        "Find the transactions that hold the locks: sys.innodb_lock_waits (MariaDB: "
                        "INNODB_LOCK_WAITS) shows who waits for whom. Commit earlier, look up rows by an index, and "
                        "lock them in one order."
                    ),
                ),
                would_change_our_mind=Message("One job that is allowed to hold others up."),
            ),
        )
    )


rule.fires(
    "Five wait all the time",
    scene("mysql 8.0.33", counters={"Innodb_row_lock_waits": 20, "Innodb_row_lock_time": 5000}, deliberate=True),
)

rule.fires(
    "One long wait after another on MariaDB",
    scene("mariadb 10.11.18", counters={"Innodb_row_lock_waits": 0.1, "Innodb_row_lock_time": 1500}, deliberate=True),
)

rule.passes(
    "Many short waits",
    scene("mysql 8.0.33", counters={"Innodb_row_lock_waits": 20, "Innodb_row_lock_time": 60}, deliberate=True),
)

rule.passes(
    "None",
    scene("mariadb 10.11.18", counters={"Innodb_row_lock_waits": 0, "Innodb_row_lock_time": 0}, deliberate=True),
)
