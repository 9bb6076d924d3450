"""A member of the replication group has many transactions waiting.

Why it matters
    What waits is committed in the group and not visible on this member: its reads are old, and it may not take over
    before it has caught up. Beyond the threshold of flow control it slows the writers of the whole group.

How it is computed
    The queue of the applier, or the queue of certification, is at or above the thresholds of flow control
    (group_replication_flow_control_applier_threshold and _certifier_threshold, 25,000 by default). It is the state at
    the inspection.

When to dismiss it
    The member has just joined and catches up.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.facts.group import Queue
from advisor.engine.observation import Observation
from advisor.engine.outcome import Finding, Item, Message, Passed, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import inspected as inspection
from advisor.engine.scene import scene
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import Investigate


@dataclass(frozen=True)
class FlowControl(Settings):
    """From how many waiting transactions on the group slows down."""

    group_replication_flow_control_applier_threshold: int
    group_replication_flow_control_certifier_threshold: int


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=8.0"],
    since="0.2",
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/group-replication-flow-control.html",
        "https://dev.mysql.com/doc/refman/8.4/en/group-replication-replication-group-member-stats.html",
    ],
)


@rule.check
def check(queue: Queue, flow: FlowControl) -> Finding | Passed:
    figures = (*queue.measured(), *flow.measured())
    applier = queue.applier >= max(1, flow.group_replication_flow_control_applier_threshold)
    certifier = queue.certification >= max(1, flow.group_replication_flow_control_certifier_threshold)
    if not applier and not certifier:
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message(
                    "{applier} transactions wait to be applied and {certifier} to be certified on this member",
                    {
                        "applier": Quantity(queue.applier, Unit.COUNT),
                        "certifier": Quantity(queue.certification, Unit.COUNT),
                    },
                ),
                evidence=figures,
                proposal=(
                    Investigate(
                        "Look what the applier waits for: its disk, a lock of a session here, too few workers "
                        "(replica_parallel_workers), or a table without a primary key."
                    ),
                ),
                expected=Message("The member is as new as the others, and flow control slows nobody."),
                would_change_our_mind=Message("A member that has just joined and catches up."),
            ),
        )
    )


def _waiting(applier: int, certification: int, threshold: int = 25_000) -> Observation:
    return scene(
        "mysql 8.0.33",
        {
            "group_replication_group_name": "aaaaaaaa-0000-0000-0000-000000000000",
            "group_replication_flow_control_applier_threshold": threshold,
            "group_replication_flow_control_certifier_threshold": threshold,
        },
        inspection=inspection(group_queue=[{"applier_queue": str(applier), "certification_queue": str(certification)}]),
    )


rule.fires("Forty thousand to apply", _waiting(40_000, 10))
rule.fires("Certification waits", _waiting(0, 30_000))
rule.passes("Two hundred", _waiting(200, 0))
