"""A replica does not look at the checksums of what it applies.

Why it matters
    Each event carries a checksum so that one that was damaged on a disk or on the way is told. The applier is the
    last who can look; if it does not, damaged rows are written without an error.

How it is computed
    The server replicates from another one and replica_sql_verify_checksum (slave_sql_verify_checksum) is off. It is
    on by default. source_verify_checksum is another thing, off by default, and fine so: the applier would still look.

When to dismiss it
    The source writes no checksums, and cannot.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from advisor.engine.declared import Settings
from advisor.engine.facts.replication import Channels, channel_row
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class Verifying(Settings):
    """Whether the applier looks."""

    also_called: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "replica_sql_verify_checksum": ("slave_sql_verify_checksum",)
    }

    replica_sql_verify_checksum: bool


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/replication-options-replica.html",
        "https://mariadb.com/docs/server/ha-and-performance/standard-replication/replication-and-binary-log-system-variables",
    ],
)


@rule.check
def check(verifying: Verifying, replica: Channels) -> Finding | Passed:
    if verifying.replica_sql_verify_checksum:
        return Passed(verifying.measured())
    return Finding(
        (
            Item(
                message=Message("The applier ignores checksums: damaged events are written as they are"),
                evidence=verifying.measured(),
                proposal=(SetVariable(verifying.called("replica_sql_verify_checksum"), True),),
                expected=Message("A damaged event stops replication instead of changing data."),
                price=(Price(PriceKind.OVERHEAD, Message("a CRC32 for each event")),),
                would_change_our_mind=Message("A source that writes no checksums."),
            ),
        )
    )


rule.fires(
    "Ignored",
    scene("mysql 8.0.33", {"replica_sql_verify_checksum": "OFF"}, role="replica", replication=[channel_row()]),
    proposes={"replica_sql_verify_checksum": True},
)
rule.fires(
    "Ignored on MariaDB",
    scene("mariadb 10.11.18", {"slave_sql_verify_checksum": "OFF"}, role="replica", replication=[channel_row()]),
    proposes={"slave_sql_verify_checksum": True},
)
rule.passes("By default they are verified", scene("mysql 8.0.33", role="replica", replication=[channel_row()]))
rule.passes("Also on MySQL 9", scene("mysql 9.7.4", role="replica", replication=[channel_row()]))
rule.passes("Also on MariaDB", scene("mariadb 10.11.18", role="replica", replication=[channel_row()]))
