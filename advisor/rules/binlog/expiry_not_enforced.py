"""The expiry of the binary log is set and not enforced.

Why it matters
    With binlog_expire_logs_auto_purge off no file is removed, whatever binlog_expire_logs_seconds says. Who reads the
    expiry believes that the log is bounded, while it grows until the disk is full and writes fail.

How it is computed
    log_bin is on, an expiry is set, and binlog_expire_logs_auto_purge (MySQL 8.0.29 and later) is off.

When to dismiss it
    It was switched off for a backup or a replica that is being built, and will be on again when that is done.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.facts.replication import OwnBinaryLog
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class Expiry(Settings):
    """After how long files would be removed, and whether they are."""

    binlog_expire_logs_seconds: int
    binlog_expire_logs_auto_purge: bool


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=8.0.29"],
    since="0.2",
    references=["https://dev.mysql.com/doc/refman/8.4/en/replication-options-binary-log.html"],
)


@rule.check
def check(expiry: Expiry, _log: OwnBinaryLog) -> Finding | Passed:
    if expiry.binlog_expire_logs_auto_purge or not expiry.binlog_expire_logs_seconds:
        return Passed(expiry.measured())
    return Finding(
        (
            Item(
                message=Message(
                    "Files of the binary log older than {time} are to be removed, and nothing removes them",
                    {"time": Quantity(expiry.binlog_expire_logs_seconds, Unit.SECONDS)},
                ),
                evidence=expiry.measured(),
                proposal=(SetVariable("binlog_expire_logs_auto_purge", True),),
                expected=Message("Files older than the expiry go at the next rotation."),
                price=(
                    Price(
                        PriceKind.DURABILITY,
                        Message("older files are removed: copy what a backup or a replica still needs first"),
                    ),
                ),
                would_change_our_mind=Message("A backup or a replica that is being built just now."),
            ),
        )
    )


rule.fires(
    "Thirty days that are not enforced",
    scene("mysql 8.0.33", {"binlog_expire_logs_auto_purge": "OFF"}),
    proposes={"binlog_expire_logs_auto_purge": True},
)
rule.passes("The default", scene("mysql 8.0.33", {"binlog_expire_logs_auto_purge": "ON"}))
rule.passes(
    "Kept for ever on purpose: another rule says so",
    scene("mysql 9.7.4", {"binlog_expire_logs_auto_purge": "OFF", "binlog_expire_logs_seconds": 0}),
)
