"""Under REPEATABLE READ one transaction may overwrite another's change unseen.

Why it matters
    A transaction reads a row from its snapshot, somebody else changes and commits the row, and the first one updates
    it on the basis of what it read: the other change is lost, although the level is called REPEATABLE READ. With
    innodb_snapshot_isolation = ON MariaDB ends the second writer with error 1020 instead, so that it can start again.
    It is the default since MariaDB 11.6.2.

How it is computed
    innodb_snapshot_isolation is OFF, new connections use REPEATABLE-READ, and transactions waited for each other's
    rows while the server was watched: at least 0.1 waits per second (Innodb_row_lock_waits). Where nobody waits for a
    row, nobody can overwrite one.

When to dismiss it
    The application reads with SELECT ... FOR UPDATE what it is going to change, or compares versions of rows itself.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import HarmRates, Settings
from advisor.engine.facts.durability import Isolation
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import Unit
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class SnapshotIsolation(Settings):
    """Whether a change of a row that somebody changed since the snapshot is refused."""

    innodb_snapshot_isolation: bool


@dataclass(frozen=True)
class RowWaits(HarmRates):
    """Waits for locks of rows, per second."""

    innodb_row_lock_waits: float


@dataclass(frozen=True)
class Parameters(Thresholds):
    """When transactions are after the same rows."""

    waits_per_second: float = threshold(
        0.1, unit=Unit.PER_SECOND, meaning="waits for a row that another transaction holds", leave_at=0.05
    )


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mariadb>=10.6"],
    since="0.2",
    parameters=Parameters(),
    caused_by=[RowWaits],
    references=[
        "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-system-variables",
        "https://mariadb.com/docs/server/reference/sql-statements/transactions/set-transaction",
    ],
)


@rule.check
def check(snapshot: SnapshotIsolation, level: Isolation, waits: RowWaits, p: Parameters) -> Finding | Passed:
    figures = snapshot.measured() + level.measured() + waits.measured()
    repeatable = level.transaction_isolation.upper() == "REPEATABLE-READ"
    if snapshot.innodb_snapshot_isolation or not repeatable or waits.innodb_row_lock_waits < p.waits_per_second:
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message("Transactions that change the same rows may overwrite each other's changes unseen"),
                evidence=figures,
                proposal=(SetVariable("innodb_snapshot_isolation", True),),
                expected=Message("A change that rests on an old version of the row is refused instead of stored."),
                price=(
                    Price(
                        PriceKind.OVERHEAD,
                        Message("error 1020 for the second writer, whose transaction the application has to repeat"),
                    ),
                ),
                would_change_our_mind=Message("An application that locks what it reads before it changes it."),
            ),
        )
    )


_WAITS = {"Innodb_row_lock_waits": 2}
_NO_WAITS = {"Innodb_row_lock_waits": 0}
rule.fires(
    "MariaDB 10.11's default, and transactions that wait for each other",
    scene("mariadb 10.11.18", {"innodb_snapshot_isolation": "OFF"}, counters=_WAITS, deliberate=True),
    proposes={"innodb_snapshot_isolation": True},
)
rule.fires(
    "Switched off on MariaDB 11.8",
    scene("mariadb 11.8.6", {"innodb_snapshot_isolation": "OFF"}, counters=_WAITS, deliberate=True),
)
rule.passes(
    "Nobody waits for a row",
    scene("mariadb 10.11.18", {"innodb_snapshot_isolation": "OFF"}, counters=_NO_WAITS, deliberate=True),
)
rule.passes("The default of MariaDB 11.8", scene("mariadb 11.8.6", counters=_WAITS, deliberate=True))
rule.passes(
    "READ COMMITTED promises less",
    scene(
        "mariadb 10.11.18",
        {"innodb_snapshot_isolation": "OFF", "tx_isolation": "READ-COMMITTED"},
        counters=_WAITS,
        deliberate=True,
    ),
)
