"""Gap locks are off for a server that may log statements.

Why it matters
    innodb_locks_unsafe_for_binlog = ON leaves out the locks between rows. Two transactions may then run in an order
    that the binary log does not repeat: where statements are logged, replicas end up with other rows. READ COMMITTED
    gives the same concurrency and can be chosen per session. MySQL 8.0 and MariaDB 10.5 no longer know the variable,
    so that the option file with it keeps a newer server from starting.

How it is computed
    From the setting: innodb_locks_unsafe_for_binlog is ON. A warning where the binary log may hold statements
    (binlog_format STATEMENT or MIXED), else a notice.

When to dismiss it
    The binary log is in row format, and no upgrade is near.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.facts.durability import BinaryLogging
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class GapLocks(Settings):
    """Whether InnoDB leaves out locks between rows."""

    innodb_locks_unsafe_for_binlog: bool


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7,<8.0", "mariadb>=10.2,<10.5"],
    since="0.2",
    references=[
        "https://dev.mysql.com/doc/refman/5.7/en/innodb-parameters.html",
        "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-system-variables",
    ],
)


@rule.check
def check(gaps: GapLocks, log: BinaryLogging) -> Finding | Passed:
    figures = gaps.measured() + log.measured()
    if not gaps.innodb_locks_unsafe_for_binlog:
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message("Locks between rows are off: what the binary log repeats may differ"),
                evidence=figures,
                proposal=(SetVariable("innodb_locks_unsafe_for_binlog", False),),
                severity=Severity.WARNING if log.may_hold_statements else None,
                expected=Message("Replicas repeat what happened, and a newer version takes the option file."),
                price=(
                    Price(PriceKind.WRITE_LATENCY, Message("more waits for locks, unless sessions use READ COMMITTED")),
                    Price(PriceKind.RESTART, Message("the setting is read at the start only")),
                ),
                would_change_our_mind=Message("A binary log in row format and no upgrade in sight."),
            ),
        )
    )


rule.fires(
    "Set long ago on MySQL 5.7",
    scene("mysql 5.7.22", {"innodb_locks_unsafe_for_binlog": "ON"}),
    proposes={"innodb_locks_unsafe_for_binlog": False},
)
rule.fires(
    "MariaDB 10.2 that logs statements",
    scene("mariadb 10.2.11", {"innodb_locks_unsafe_for_binlog": "ON", "log_bin": "ON", "binlog_format": "MIXED"}),
    proposes={"innodb_locks_unsafe_for_binlog": False},
)
rule.passes("The default", scene("mysql 5.7.22"))
rule.passes("The default of MariaDB 10.2", scene("mariadb 10.2.11"))
