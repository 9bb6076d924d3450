"""The server goes on without its binary log when that cannot be written.

Why it matters
    With binlog_error_action = IGNORE_ERROR a full disk or an I/O error ends the logging and not the writing: commits
    go on, replicas silently miss them, and a restore to a point in time ends at the error. The server has to be
    restarted before it logs again. ABORT_SERVER, the default since 5.7.7, stops it instead, so that nothing is
    acknowledged that was not logged.

How it is computed
    From the settings: log_bin is ON and binlog_error_action is IGNORE_ERROR.

When to dismiss it
    Being up matters more than replicas and restores, and the error log is watched.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class LogErrors(Settings):
    """What happens when the binary log cannot be written."""

    log_bin: bool
    binlog_error_action: str


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7"],
    since="0.2",
    references=["https://dev.mysql.com/doc/refman/8.4/en/replication-options-binary-log.html"],
)


@rule.check
def check(it: LogErrors) -> Finding | Passed:
    if not it.log_bin or it.binlog_error_action.upper() != "IGNORE_ERROR":
        return Passed(it.measured())
    return Finding(
        (
            Item(
                message=Message("When the binary log cannot be written, commits go on without it"),
                evidence=it.measured(),
                proposal=(SetVariable("binlog_error_action", "ABORT_SERVER"),),
                expected=Message("No commit is acknowledged that is missing in the binary log."),
                price=(
                    Price(PriceKind.DURABILITY, Message("an error while logging stops the server instead of the log")),
                ),
                would_change_our_mind=Message("Being up matters more than replicas and restores."),
            ),
        )
    )


rule.fires(
    "Errors are ignored",
    scene("mysql 8.0.33", {"binlog_error_action": "IGNORE_ERROR"}),
    proposes={"binlog_error_action": "ABORT_SERVER"},
)
rule.passes("The default", scene("mysql 8.0.33"))
rule.passes("No binary log", scene("mysql 5.7.22", {"binlog_error_action": "IGNORE_ERROR", "log_bin": "OFF"}))
