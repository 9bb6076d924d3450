"""A Galera node has many write sets waiting to be applied.

Why it matters
    What waits is committed elsewhere and not visible here: reads are that much older, and the next step is flow
    control, which stops the writers of all nodes. After a crash the node has to fetch it all again.

How it is computed
    wsrep_local_recv_queue, the length at this moment, is 100 or more. The mean since the start
    (wsrep_local_recv_queue_avg) is not used: it remembers every start of the node.

When to dismiss it
    The node has just joined, or is desynced for a backup, and catches up.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Status
from advisor.engine.facts.galera import ClusterNode
from advisor.engine.outcome import Finding, Item, Message, Passed, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import Investigate


@dataclass(frozen=True)
class Waiting(Status):
    """Write sets received and not applied, at the moment."""

    wsrep_local_recv_queue: int


@dataclass(frozen=True)
class Parameters(Thresholds):
    """What is long."""

    waiting: float = threshold(100, unit=Unit.COUNT, meaning="write sets that wait", leave_at=50)


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://mariadb.com/docs/galera-cluster/reference/galera-cluster-status-variables",
        "https://docs.percona.com/percona-xtradb-cluster/8.0/wsrep-status-index.html",
    ],
)


@rule.check
def check(_node_of: ClusterNode, queue: Waiting, p: Parameters) -> Finding | Passed:
    if queue.wsrep_local_recv_queue < p.waiting:
        return Passed(queue.measured())
    return Finding(
        (
            Item(
                message=Message(
                    "{count} write sets of the cluster wait to be applied on this node",
                    {"count": Quantity(queue.wsrep_local_recv_queue, Unit.COUNT)},
                ),
                evidence=queue.measured(),
                proposal=(
                    Investigate(
                        "Look what the appliers wait for: a session that holds a lock, the disk, a table without a "
                        "primary "
                        "key; and whether the node is a donor or desynced."
                    ),
                ),
                expected=Message("Reads on this node are as new as on the others."),
                would_change_our_mind=Message("A node that has just joined and catches up."),
            ),
        )
    )


rule.fires("A thousand", scene("mariadb 10.11.18", {"wsrep_on": "ON"}, status={"wsrep_local_recv_queue": 1000}))
rule.passes("Three", scene("mariadb 10.11.18", {"wsrep_on": "ON"}, status={"wsrep_local_recv_queue": 3}))
rule.passes("Ninety-nine", scene("mariadb 11.4.5", {"wsrep_on": "ON"}, status={"wsrep_local_recv_queue": 99}))
