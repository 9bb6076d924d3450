"""Adaptive flushing is switched off.

Why it matters
    Adaptive flushing writes pages at the speed at which redo is produced, so that the checkpoint age stays in the
    middle of the log. Without it (innodb_adaptive_flushing = OFF) InnoDB lets the age rise to the async point and
    flushes there as fast as it may: throughput falls in bursts, at an age of about 70 % of the log.

How it is computed
    From the setting alone. It is ON by default in every version.

When to dismiss it
    Somebody measured this very workload with and without it, and the log is never filled beyond a few percent.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
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
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class Adaptive(Settings):
    """Whether flushing follows the growth of the redo log."""

    innodb_adaptive_flushing: bool


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-buffer-pool-flushing.html",
        "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-page-flushing",
    ],
)


@rule.check
def check(adaptive: Adaptive, _log: OwnRedoLog) -> Finding | Passed:
    if adaptive.innodb_adaptive_flushing:
        return Passed(adaptive.measured())
    return Finding(
        (
            Item(
                message=Message("innodb_adaptive_flushing is OFF: pages are flushed in bursts when the log is full"),
                evidence=adaptive.measured(),
                proposal=(SetVariable("innodb_adaptive_flushing", "ON"),),
                expected=Message("Pages are written evenly, as redo is produced, before the age reaches its limit."),
                price=(Price(PriceKind.DISK_WRITES, Message("pages are written earlier, some of them once more")),),
                would_change_our_mind=Message("A load that never fills more than a few percent of the redo log."),
            ),
        )
    )


rule.fires(
    "Switched off on MySQL 5.7",
    scene("mysql 5.7.22", {"innodb_adaptive_flushing": "OFF"}),
    proposes={"innodb_adaptive_flushing": "ON"},
)
rule.fires(
    "Switched off on MariaDB 11.8",
    scene("mariadb 11.8.6", {"innodb_adaptive_flushing": "OFF"}),
    proposes={"innodb_adaptive_flushing": "ON"},
)
rule.passes("The default of MySQL 8.0", scene("mysql 8.0.33"))
rule.passes("The default of MariaDB 10.11", scene("mariadb 10.11.18", {"innodb_adaptive_flushing": "ON"}))
