"""The redo log is written without checksums.

Why it matters
    After a crash InnoDB replays the redo log. With checksums it stops where the log ends or is damaged; without them
    a damaged block is replayed like any other, and recovery itself writes wrong pages.

How it is computed
    From the setting: innodb_log_checksums is OFF. MariaDB 10.5 shows the variable and always checks; later MariaDB
    has no such switch.

When to dismiss it
    Never on data that matter: the checksum costs next to nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.facts.redo import OwnRedoLog
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class LogChecksums(Settings):
    """Whether blocks of the redo log carry a checksum."""

    innodb_log_checksums: bool


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7", "mariadb>=10.2,<10.5"],
    since="0.2",
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-parameters.html",
        "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-system-variables",
    ],
)


@rule.check
def check(log: LogChecksums, _log: OwnRedoLog) -> Finding | Passed:
    if log.innodb_log_checksums:
        return Passed(log.measured())
    return Finding(
        (
            Item(
                message=Message("The redo log carries no checksums: recovery would replay damaged blocks"),
                evidence=log.measured(),
                proposal=(SetVariable("innodb_log_checksums", True),),
                expected=Message("Recovery stops at a damaged block instead of replaying it."),
                price=(Price(PriceKind.OVERHEAD, Message("a checksum for each block of 512 bytes")),),
                would_change_our_mind=Message("Data that may be lost."),
            ),
        )
    )


rule.fires(
    "Switched off", scene("mysql 8.0.33", {"innodb_log_checksums": "OFF"}), proposes={"innodb_log_checksums": True}
)
rule.fires("MariaDB 10.2", scene("mariadb 10.2.11", {"innodb_log_checksums": "OFF"}))
rule.passes("The default", scene("mysql 8.0.33"))
rule.passes("The default of MariaDB 10.2", scene("mariadb 10.2.11"))
