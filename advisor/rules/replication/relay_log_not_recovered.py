"""After a crash a replica would go on with relay logs that may be damaged.

Why it matters
    Relay logs are not synced at each event: after a crash of the machine the last of them may be torn, and the
    receiver's position may be ahead of what is on disk. With relay_log_recovery the replica throws them away at its
    start and fetches again from where its data are; without it somebody has to do that by hand, at night.

How it is computed
    The server replicates from another one and relay_log_recovery is off, which is the default of MySQL. It is part of
    what the manual asks of a replica that survives an unexpected halt. MariaDB does it by itself where GTIDs are
    used.

When to dismiss it
    The source keeps its log for a shorter time than the replica may be behind: then the relay logs are the only copy.
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
class Recovery(Settings):
    """Whether relay logs are thrown away at a start."""

    relay_log_recovery: bool


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7"],
    since="0.2",
    references=["https://dev.mysql.com/doc/refman/8.4/en/replication-solutions-unexpected-replica-halt.html"],
)


@rule.check
def check(recovery: Recovery, replica: Channels) -> Finding | Passed:
    if recovery.relay_log_recovery:
        return Passed(recovery.measured())
    return Finding(
        (
            Item(
                message=Message("relay_log_recovery = OFF: after a crash the replica goes on with torn relay logs"),
                evidence=recovery.measured(),
                proposal=(SetVariable("relay_log_recovery", True),),
                expected=Message("The replica recovers from a crash without a person."),
                price=(Price(PriceKind.RESTART, Message("what was received and not applied is fetched again")),),
                would_change_our_mind=Message("A source that keeps its log shorter than this replica may be behind."),
            ),
        )
    )


rule.fires(
    "MySQL's default",
    scene("mysql 8.0.33", {"relay_log_recovery": "OFF"}, role="replica", replication=[channel_row()]),
    proposes={"relay_log_recovery": True},
)
rule.passes("On", scene("mysql 8.0.33", {"relay_log_recovery": "ON"}, role="replica", replication=[channel_row()]))
