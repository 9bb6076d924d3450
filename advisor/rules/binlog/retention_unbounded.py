"""Files of the binary log are never removed.

Why it matters
    The binary log grows by all that is written. Without an expiry its files stay for ever, until the disk is full:
    then every write waits or fails, the server with its data included. Such a server works well for months first.

How it is computed
    log_bin is on, binlog_expire_logs_seconds and expire_logs_days are 0 or absent, and no total size limits the log
    (max_binlog_total_size of MariaDB 11.4). Proposed are seven days: more than a weekend, so that a replica or a
    backup that failed on Friday can catch up.

When to dismiss it
    Something else removes the files (a script, an archiving tool, the cloud provider), and somebody watches that it
    does.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.facts.replication import OwnBinaryLog
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.units import DAY, GIB
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class Expiry(Settings):
    """After how long files are removed: seconds and days, and how large all of them may get together."""

    binlog_expire_logs_seconds: int = 0
    expire_logs_days: float = 0.0
    max_binlog_total_size: int = 0


SEVEN_DAYS = 7


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/replication-options-binary-log.html",
        "https://mariadb.com/docs/server/server-management/server-monitoring-logs/binary-log",
    ],
)


@rule.check
def check(expiry: Expiry, _log: OwnBinaryLog) -> Finding | Passed:
    if expiry.binlog_expire_logs_seconds > 0 or expiry.expire_logs_days > 0 or expiry.max_binlog_total_size > 0:
        return Passed(expiry.measured())
    if expiry.exists("binlog_expire_logs_seconds"):
        proposal = SetVariable("binlog_expire_logs_seconds", SEVEN_DAYS * DAY)
    else:
        proposal = SetVariable("expire_logs_days", SEVEN_DAYS)
    return Finding(
        (
            Item(
                message=Message("Files of the binary log are never removed: they fill the disk in the end"),
                evidence=expiry.measured(),
                proposal=(proposal,),
                expected=Message("Files older than seven days go at the next rotation."),
                price=(
                    Price(
                        PriceKind.DURABILITY,
                        Message("a backup older than seven days can no longer be rolled forward from this log alone"),
                    ),
                ),
                would_change_our_mind=Message("A job of yours that removes or archives the files."),
            ),
        )
    )


rule.fires(
    "MySQL 5.7 keeps them by default", scene("mysql 5.7.22", {"log_bin": "ON"}), proposes={"expire_logs_days": 7}
)
rule.fires(
    "MySQL 8 told to keep them",
    scene("mysql 8.0.33", {"binlog_expire_logs_seconds": 0}),
    proposes={"binlog_expire_logs_seconds": 7 * DAY},
)
rule.fires(
    "MariaDB 10.2 knows days only",
    scene("mariadb 10.2.11", {"log_bin": "ON"}),
    proposes={"expire_logs_days": 7},
)
rule.fires(
    "MariaDB keeps them by default",
    scene("mariadb 10.11.18", {"log_bin": "ON"}),
    proposes={"binlog_expire_logs_seconds": 7 * DAY},
)
rule.passes("MySQL 8 keeps thirty days by default", scene("mysql 8.0.33"))
rule.passes("Two days", scene("mysql 5.7.22", {"log_bin": "ON", "expire_logs_days": 2}))
rule.passes("Days on MariaDB", scene("mariadb 10.11.18", {"log_bin": "ON", "expire_logs_days": 3}))
rule.passes("Days of an older MariaDB", scene("mariadb 10.2.11", {"log_bin": "ON", "expire_logs_days": 3}))
rule.passes("Limited by size", scene("mariadb 11.8.6", {"log_bin": "ON", "max_binlog_total_size": 10 * GIB}))
