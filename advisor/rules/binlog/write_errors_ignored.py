"""The server goes on without its binary log when that cannot be written.

Why it matters
    With binlog_error_action = IGNORE_ERROR a full disk or a damaged file ends the binary log, and the server goes on
    writing data. Replicas and restores lack everything from that moment on, and none of them reports an error: a
    fail-over then loses acknowledged writes.

How it is computed
    log_bin is on and binlog_error_action is IGNORE_ERROR. The default since MySQL 5.7.7, ABORT_SERVER, stops the
    server instead.

When to dismiss it
    Nothing is replicated or restored from this log, and being up is worth more than its content.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.facts.replication import BinaryLog
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class OnError(Settings):
    """IGNORE_ERROR or ABORT_SERVER."""

    binlog_error_action: str


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7"],
    since="0.2",
    references=["https://dev.mysql.com/doc/refman/8.4/en/replication-options-binary-log.html"],
)


@rule.check
def check(action: OnError, _log: BinaryLog) -> Finding | Passed:
    if action.binlog_error_action.upper() != "IGNORE_ERROR":
        return Passed(action.measured())
    return Finding(
        (
            Item(
                message=Message("If the binary log cannot be written, the server goes on without it, in silence"),
                evidence=action.measured(),
                proposal=(SetVariable("binlog_error_action", "ABORT_SERVER"),),
                expected=Message("Replicas never lack writes that were acknowledged."),
                price=(Price(PriceKind.RESTART, Message("a full disk of the binary log stops the server")),),
                would_change_our_mind=Message("A log that nobody replicates or restores from."),
            ),
        )
    )


rule.fires(
    "Errors are ignored",
    scene("mysql 5.7.22", {"log_bin": "ON", "binlog_error_action": "IGNORE_ERROR"}),
    proposes={"binlog_error_action": "ABORT_SERVER"},
)
rule.fires(
    "Also on a newer server",
    scene("mysql 9.7.4", {"binlog_error_action": "IGNORE_ERROR"}),
    proposes={"binlog_error_action": "ABORT_SERVER"},
)
rule.passes("The default", scene("mysql 8.0.33", {"binlog_error_action": "ABORT_SERVER"}))
