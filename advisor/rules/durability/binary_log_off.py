"""Writes since the last backup cannot be restored: there is no binary log.

Why it matters
    A backup restores the hour in which it was taken. What brings back the rest of the day, up to the statement before
    the wrong DELETE, is the binary log. Without it everything since the last backup is gone in a loss of the disk as
    well as in a mistake, and no replica can be attached without a new copy either. MySQL 5.7 and MariaDB do not write
    one by default.

How it is computed
    log_bin is OFF, the server is no replica, and rows were written while it was watched: at least one INSERT, UPDATE,
    DELETE or REPLACE per second. A server that is run by a cloud has backups of its own and is not judged.

When to dismiss it
    The data can be produced again from elsewhere (a cache, a warehouse that is loaded every night), or snapshots of
    the storage are taken so often that the time between two of them may be lost.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Rates
from advisor.engine.facts.durability import BinaryLogging, SelfManaged
from advisor.engine.facts.settings import Durability
from advisor.engine.outcome import Finding, Item, Measured, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import Investigate


@dataclass(frozen=True)
class Writes(Rates):
    """Statements that change rows, per second."""

    com_insert: float
    com_update: float
    com_delete: float
    com_replace: float = 0.0
    com_insert_select: float = 0.0
    com_update_multi: float = 0.0
    com_delete_multi: float = 0.0

    @property
    def per_second(self) -> float:
        return (
            self.com_insert
            + self.com_update
            + self.com_delete
            + self.com_replace
            + self.com_insert_select
            + self.com_update_multi
            + self.com_delete_multi
        )


@dataclass(frozen=True)
class Parameters(Thresholds):
    """From when on there is something to lose."""

    writes_per_second: float = threshold(1, unit=Unit.PER_SECOND, meaning="statements that change rows", leave_at=0.5)


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/point-in-time-recovery.html",
        "https://mariadb.com/docs/server/server-management/server-monitoring-logs/binary-log/activating-the-binary-log",
    ],
)


@rule.check
def check(
    log: BinaryLogging, durability: Durability, writes: Writes, _own: SelfManaged, p: Parameters
) -> Finding | Passed:
    written = Measured("statements that change rows", writes.per_second, Unit.PER_SECOND, writes.window, "Com counters")
    figures = (*log.measured("log_bin"), written)
    if log.log_bin or durability.role == "replica" or writes.per_second < p.writes_per_second:
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message(
                    "Changes of rows ({rate}) go to no binary log: nothing after the last backup can be restored",
                    {"rate": Quantity(writes.per_second, Unit.PER_SECOND)},
                ),
                evidence=figures,
                proposal=(
                    Investigate(
                        "Put log_bin, a server_id of its own, sync_binlog = 1, binlog_format = ROW and an expiry "
                        "that is longer than the time between two backups into the option file, restart, and take a "
                        "full backup."
                    ),
                ),
                expected=Message("A backup and the binary log after it restore any moment."),
                price=(
                    Price(PriceKind.DISK, Message("the log of the days that are kept")),
                    Price(PriceKind.WRITE_LATENCY, Message("one more sync for each group of commits")),
                    Price(PriceKind.RESTART, Message("log_bin is read at the start only")),
                ),
                would_change_our_mind=Message("Data that can be produced again, or frequent snapshots of the storage."),
            ),
        )
    )


_WRITING = {"Com_insert": 20, "Com_update": 5, "Com_delete": 1}
_READING = {"Com_insert": 0.1, "Com_update": 0, "Com_delete": 0}
rule.fires(
    "MariaDB with its default, under writes",
    scene("mariadb 10.11.18", counters=_WRITING, deliberate=True),
)
rule.fires(
    "MySQL 5.7 with its default, under writes",
    scene("mysql 5.7.22", {"log_bin": "OFF"}, counters=_WRITING, deliberate=True),
)
rule.passes("Hardly anything is written", scene("mariadb 10.11.18", counters=_READING, deliberate=True))
rule.passes("The log is there", scene("mysql 5.7.22", {"log_bin": "ON"}, counters=_WRITING, deliberate=True))
rule.passes(
    "A replica, which can be built again from its source",
    scene("mariadb 10.11.18", counters=_WRITING, role="replica", deliberate=True),
)
