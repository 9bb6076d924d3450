"""Relay logs are never removed.

Why it matters
    With relay_log_purge off every file that was received stays after it was applied: the replica's disk fills with a
    copy of all that its source ever wrote, and replication stops when it is full. Together with relay_log_recovery,
    old files may even be applied again.

How it is computed
    The server replicates from another one and relay_log_purge is off.

When to dismiss it
    A fail-over tool (MHA and the like) needs the files and removes them itself.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.facts.replication import Channels, channel_row
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class Purge(Settings):
    """Whether files are removed once they were applied."""

    relay_log_purge: bool


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
def check(purge: Purge, replica: Channels) -> Finding | Passed:
    if purge.relay_log_purge:
        return Passed(purge.measured())
    return Finding(
        (
            Item(
                message=Message("relay_log_purge = OFF: applied relay logs stay until the disk is full"),
                evidence=purge.measured(),
                proposal=(SetVariable("relay_log_purge", True),),
                expected=Message("A relay log goes once it was applied."),
                price=(Price(PriceKind.DISK, Message("none: the source keeps the same events in its binary log")),),
                would_change_our_mind=Message("A fail-over tool that needs the files and removes them."),
            ),
        )
    )


rule.fires(
    "Kept",
    scene("mysql 8.0.33", {"relay_log_purge": "OFF"}, role="replica", replication=[channel_row()]),
    proposes={"relay_log_purge": True},
)
rule.fires(
    "Kept on MariaDB",
    scene("mariadb 10.11.18", {"relay_log_purge": "OFF"}, role="replica", replication=[channel_row()]),
    proposes={"relay_log_purge": True},
)
rule.passes("Removed", scene("mysql 8.0.33", {"relay_log_purge": "ON"}, role="replica", replication=[channel_row()]))
rule.passes(
    "Removed on MariaDB",
    scene("mariadb 10.11.18", {"relay_log_purge": "ON"}, role="replica", replication=[channel_row()]),
)
