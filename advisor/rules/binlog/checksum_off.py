"""Events of the binary log carry no checksum.

Why it matters
    A bit that flips on the disk, in memory or on the network becomes a row of a replica, or of a restore, and nobody
    notices. With a checksum the receiver, the applier and mysqlbinlog stop with an error instead.

How it is computed
    log_bin is on and binlog_checksum is NONE. CRC32 is the default of both flavors, costs four bytes for each event
    and next to no time.

When to dismiss it
    A very old replica or a tool that reads the log does not know checksums. Group Replication before MySQL 8.0.21
    requires NONE: such members are not judged.
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
class Checksum(Settings):
    """NONE or CRC32. With Group Replication the name of the group is set."""

    binlog_checksum: str
    group_replication_group_name: str = ""


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/replication-options-binary-log.html",
        "https://mariadb.com/docs/server/ha-and-performance/standard-replication/replication-and-binary-log-system-variables",
    ],
)


@rule.check
def check(log: Checksum, _log: BinaryLog) -> Finding | Passed:
    if log.binlog_checksum.upper() != "NONE" or log.group_replication_group_name:
        return Passed(log.measured())
    return Finding(
        (
            Item(
                message=Message("binlog_checksum = NONE: a damaged event is applied without notice"),
                evidence=log.measured(),
                proposal=(SetVariable("binlog_checksum", "CRC32"),),
                expected=Message("Damaged events stop a replica with an error instead of changing its data."),
                price=(Price(PriceKind.OVERHEAD, Message("four bytes and a CRC32 for each event")),),
                would_change_our_mind=Message("A reader of the log that does not know checksums."),
            ),
        )
    )


rule.fires("None", scene("mysql 8.0.33", {"binlog_checksum": "NONE"}), proposes={"binlog_checksum": "CRC32"})
rule.fires(
    "None on MariaDB",
    scene("mariadb 10.11.18", {"log_bin": "ON", "binlog_checksum": "NONE"}),
    proposes={"binlog_checksum": "CRC32"},
)
rule.passes("The default", scene("mysql 8.0.33", {"binlog_checksum": "CRC32"}))
rule.passes("The default of MariaDB", scene("mariadb 10.11.18", {"log_bin": "ON", "binlog_checksum": "CRC32"}))
