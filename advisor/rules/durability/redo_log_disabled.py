"""Redo logging is switched off: the next crash loses the whole server.

Why it matters
    ALTER INSTANCE DISABLE INNODB REDO_LOG is for loading data into a new server. While it is off nothing is logged:
    after a crash InnoDB refuses to start, and there is no way to repair the data directory; it has to be built again
    from a backup.

How it is computed
    Innodb_redo_log_enabled is OFF in the newest snapshot (MySQL 8.0.21 and later).

When to dismiss it
    An initial load is running, and the data directory may be thrown away if it fails.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Status
from advisor.engine.facts.redo import OwnRedoLog
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.mysql.proposal import Investigate


@dataclass(frozen=True)
class RedoState(Status):
    """Whether changes are logged at all."""

    innodb_redo_log_enabled: str


rule = Rule(
    __name__,
    severity=Severity.CRITICAL,
    applies_to=["mysql>=8.0.21"],
    since="0.2",
    references=["https://dev.mysql.com/doc/refman/8.4/en/innodb-redo-log.html"],
)


@rule.check
def check(redo: RedoState, _log: OwnRedoLog) -> Finding | Passed:
    if redo.innodb_redo_log_enabled.upper() != "OFF":
        return Passed(redo.measured())
    return Finding(
        (
            Item(
                message=Message("InnoDB writes no redo log: a crash makes all data unreadable"),
                evidence=redo.measured(),
                proposal=(
                    Investigate("When the load is over, run ALTER INSTANCE ENABLE INNODB REDO_LOG, and take a backup."),
                ),
                expected=Message("The server recovers by itself after a crash."),
                price=(
                    Price(PriceKind.DISK_WRITES, Message("every change is logged again before its page is written")),
                ),
                would_change_our_mind=Message("An initial load that is running now."),
            ),
        )
    )


rule.fires("Left off after a load", scene("mysql 8.0.33", status={"Innodb_redo_log_enabled": "OFF"}))
rule.fires("MySQL 9", scene("mysql 9.7.4", status={"Innodb_redo_log_enabled": "OFF"}))
rule.passes("On, as by default", scene("mysql 8.0.33", status={"Innodb_redo_log_enabled": "ON"}))
rule.passes("On, MySQL 9", scene("mysql 9.7.4", status={"Innodb_redo_log_enabled": "ON"}))
