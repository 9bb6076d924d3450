"""The binary log and InnoDB may disagree after a crash.

Why it matters
    Each commit goes to two logs, and a prepare step in InnoDB is what lets recovery decide by the binary log which of
    the last transactions count. With innodb_support_xa = OFF that step is left out: after a crash rows may be there
    that no replica ever gets, or the other way round. MySQL 5.7.10 and MariaDB 10.3 and later always do it, whatever
    is set.

How it is computed
    From the settings: log_bin is ON and innodb_support_xa is OFF, on MariaDB 10.2, which still obeys it.

When to dismiss it
    Nobody reads the binary log of this server.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class PreparedCommits(Settings):
    """Whether commits are prepared in InnoDB before they go to the binary log."""

    innodb_support_xa: bool
    log_bin: bool


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mariadb>=10.2,<10.3"],
    since="0.2",
    references=["https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-system-variables"],
)


@rule.check
def check(it: PreparedCommits) -> Finding | Passed:
    if it.innodb_support_xa or not it.log_bin:
        return Passed(it.measured())
    return Finding(
        (
            Item(
                message=Message("Commits are not prepared before the binary log: after a crash replicas may differ"),
                evidence=it.measured(),
                proposal=(SetVariable("innodb_support_xa", True),),
                expected=Message("After a crash InnoDB and the binary log hold the same transactions."),
                price=(Price(PriceKind.WRITE_LATENCY, Message("one more write to the redo log for each commit")),),
                would_change_our_mind=Message("A binary log that nobody reads."),
            ),
        )
    )


rule.fires(
    "Switched off with a binary log",
    scene("mariadb 10.2.11", {"innodb_support_xa": "OFF", "log_bin": "ON"}),
    proposes={"innodb_support_xa": True},
)
rule.passes("The default, with a binary log", scene("mariadb 10.2.11", {"log_bin": "ON"}))
rule.passes("No binary log to agree with", scene("mariadb 10.2.11", {"innodb_support_xa": "OFF", "log_bin": "OFF"}))
