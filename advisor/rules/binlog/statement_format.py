"""The binary log holds statements instead of rows.

Why it matters
    A statement can have another effect where it is run again: UUID() and NOW(6), LIMIT without ORDER BY, triggers,
    rows in another order. Replicas then differ from their source without any error, and a restore that is rolled
    forward gives other data. Statements with many scanned rows are scanned again on every replica, too.

How it is computed
    log_bin is on and binlog_format is STATEMENT. MIXED, which logs rows where a statement is not safe (MariaDB's
    default), passes; so does ROW.

When to dismiss it
    The log would grow beyond what the network or disk carries, and all statements are known to be deterministic.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.facts.replication import BinaryLog
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.mysql.proposal import Investigate


@dataclass(frozen=True)
class Format(Settings):
    """STATEMENT, MIXED or ROW."""

    binlog_format: str


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/replication-formats.html",
        "https://mariadb.com/docs/server/server-management/server-monitoring-logs/binary-log/binary-log-formats",
    ],
)


@rule.check
def check(log: Format, _log: BinaryLog) -> Finding | Passed:
    if log.binlog_format.upper() != "STATEMENT":
        return Passed(log.measured())
    return Finding(
        (
            Item(
                message=Message("binlog_format = STATEMENT: replicas may get other data than their source"),
                evidence=log.measured(),
                proposal=(
                    Investigate(
                        "Set binlog_format = ROW in the option file and with SET GLOBAL; sessions that are open keep "
                        "the old format until they connect again. Where rows make the log too large, "
                        "binlog_row_image = MINIMAL shrinks it. Then compare replicas with their source."
                    ),
                ),
                expected=Message("Replicas get the very rows that the source wrote."),
                price=(Price(PriceKind.DISK, Message("statements that change many rows take more of the log")),),
                would_change_our_mind=Message("Statements that are all known to be deterministic."),
            ),
        )
    )


rule.fires("Statements", scene("mysql 8.0.33", {"binlog_format": "STATEMENT"}))
rule.fires("Statements on MariaDB", scene("mariadb 10.11.18", {"log_bin": "ON", "binlog_format": "STATEMENT"}))
rule.passes("MariaDB's default decides by statement", scene("mariadb 10.11.18", {"log_bin": "ON"}))
rule.passes("Rows", scene("mysql 8.0.33", {"binlog_format": "ROW"}))
