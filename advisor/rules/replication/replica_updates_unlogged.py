"""A replica writes a binary log without what it replicates.

Why it matters
    Its log holds only what was written here directly: no other replica can follow it, it cannot take over as the
    source of the others, and a backup of it cannot be rolled forward. That is found out in the fail-over.

How it is computed
    The server replicates from another one, log_bin is on, and log_replica_updates (log_slave_updates) is off, as it
    is by default on MySQL 5.7 and MariaDB.

When to dismiss it
    It serves reads only, and will never be promoted or have replicas of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from advisor.engine.declared import Settings
from advisor.engine.facts.replication import BinaryLog, Channels, channel_row
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class Updates(Settings):
    """Whether replicated changes are logged again."""

    also_called: ClassVar[Mapping[str, tuple[str, ...]]] = {"log_replica_updates": ("log_slave_updates",)}

    log_replica_updates: bool


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/replication-options-replica.html",
        "https://mariadb.com/docs/server/ha-and-performance/standard-replication/replication-and-binary-log-system-variables",
    ],
)


@rule.check
def check(updates: Updates, replica: Channels, _log: BinaryLog) -> Finding | Passed:
    if updates.log_replica_updates:
        return Passed(updates.measured())
    return Finding(
        (
            Item(
                message=Message(
                    "What is replicated is not in this replica's own binary log: it cannot become a source"
                ),
                evidence=updates.measured(),
                proposal=(SetVariable(updates.called("log_replica_updates"), True),),
                expected=Message("The replica can take over, and others can follow it."),
                price=(Price(PriceKind.DISK_WRITES, Message("each replicated transaction is written once more")),),
                would_change_our_mind=Message("A replica for reads that is never promoted."),
            ),
        )
    )


rule.fires(
    "The default of 5.7",
    scene("mysql 5.7.22", {"log_bin": "ON"}, role="replica", replication=[channel_row()]),
    proposes={"log_slave_updates": True},
)
rule.fires(
    "The default of MariaDB",
    scene("mariadb 10.11.18", {"log_bin": "ON"}, role="replica", replication=[channel_row()]),
    proposes={"log_slave_updates": True},
)
rule.fires(
    "Switched off on MySQL 8",
    scene("mysql 8.0.33", {"log_replica_updates": "OFF"}, role="replica", replication=[channel_row()]),
    proposes={"log_replica_updates": True},
)
rule.passes("The default of MySQL 8", scene("mysql 8.0.33", role="replica", replication=[channel_row()]))
rule.passes(
    "Switched on",
    scene("mysql 5.7.22", {"log_bin": "ON", "log_slave_updates": "ON"}, role="replica", replication=[channel_row()]),
)
rule.passes(
    "Switched on for MariaDB",
    scene(
        "mariadb 10.11.18", {"log_bin": "ON", "log_slave_updates": "ON"}, role="replica", replication=[channel_row()]
    ),
)
