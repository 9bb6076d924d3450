"""After a fail-over of the group, applications may read old data from the new primary.

Why it matters
    With group_replication_consistency = EVENTUAL a new primary answers before it has applied what the old one
    committed: an application that was told that its write is done reads that it is not, and may write again on top of
    it. With BEFORE_ON_PRIMARY_FAILOVER it waits until the rest is applied, seconds at most and only then; it is the
    default since MySQL 8.4.

How it is computed
    The server is a member of a group in single-primary mode and group_replication_consistency is EVENTUAL.

When to dismiss it
    Applications must get an answer at once after a fail-over, even an old one.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.facts.group import GroupMember
from advisor.engine.observation import Observation
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class Consistency(Settings):
    """What a transaction waits for."""

    group_replication_consistency: str
    group_replication_single_primary_mode: bool = True


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=8.0.14"],
    since="0.2",
    references=["https://dev.mysql.com/doc/refman/8.4/en/group-replication-configuring-consistency-guarantees.html"],
)


@rule.check
def check(_member: GroupMember, consistency: Consistency) -> Finding | Passed:
    eventual = consistency.group_replication_consistency.upper() == "EVENTUAL"
    if not eventual or not consistency.group_replication_single_primary_mode:
        return Passed(consistency.measured())
    return Finding(
        (
            Item(
                message=Message("After a fail-over the new primary answers with old data until it has caught up"),
                evidence=consistency.measured(),
                proposal=(SetVariable("group_replication_consistency", "BEFORE_ON_PRIMARY_FAILOVER"),),
                expected=Message("What was acknowledged before a fail-over is there after it."),
                price=(
                    Price(
                        PriceKind.READ_LATENCY,
                        Message("after a fail-over queries wait until the new primary has applied its backlog"),
                    ),
                ),
                would_change_our_mind=Message("Applications that need an answer at once, even an old one."),
            ),
        )
    )


def _consistent(server: str, word: str) -> Observation:
    return scene(
        server,
        {
            "group_replication_group_name": "aaaaaaaa-0000-0000-0000-000000000000",
            "group_replication_consistency": word,
        },
    )


rule.fires(
    "The default of 8.0",
    _consistent("mysql 8.0.33", "EVENTUAL"),
    proposes={"group_replication_consistency": "BEFORE_ON_PRIMARY_FAILOVER"},
)
rule.passes("The default since 8.4", _consistent("mysql 8.0.33", "BEFORE_ON_PRIMARY_FAILOVER"))
rule.passes("Stronger", _consistent("mysql 9.7.4", "AFTER"))
