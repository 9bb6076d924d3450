"""This node makes the whole cluster wait.

Why it matters
    A node that sends flow control messages cannot apply as fast as the others write, and stops all of them each time.
    It is the one to look at, whatever the other nodes report.

How it is computed
    wsrep_flow_control_sent rises between full snapshots, at least once in ten seconds on average.

When to dismiss it
    A backup or another bulk job runs on this node and will be over.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Rates, Status
from advisor.engine.facts.galera import ClusterNode
from advisor.engine.outcome import Finding, Item, Message, Passed, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import HOUR, Quantity, Unit
from advisor.mysql.proposal import Investigate


@dataclass(frozen=True)
class Sent(Rates):
    """How often this node asked the others to stop, per second."""

    wsrep_flow_control_sent: float


@dataclass(frozen=True)
class Waiting(Status):
    """Write sets received and not applied, at the moment."""

    wsrep_local_recv_queue: int = 0


@dataclass(frozen=True)
class Parameters(Thresholds):
    """How often is too often."""

    sent_per_second: float = threshold(0.1, unit=Unit.PER_SECOND, meaning="requests to stop", leave_at=0.03)


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://mariadb.com/docs/galera-cluster/reference/galera-cluster-status-variables",
        "https://mariadb.com/docs/galera-cluster/galera-management/performance-tuning/flow-control-in-galera-cluster",
    ],
)


@rule.check
def check(_node_of: ClusterNode, sent: Sent, queue: Waiting, p: Parameters) -> Finding | Passed:
    figures = (*sent.measured(), *queue.measured())
    if sent.wsrep_flow_control_sent < p.sent_per_second:
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message(
                    "This node asks the cluster to stop {rate} times a second: it is the slow one",
                    {"rate": Quantity(sent.wsrep_flow_control_sent, Unit.COUNT)},
                ),
                evidence=figures,
                proposal=(
                    Investigate(
                        "Compare this node's disk, memory, innodb settings and applier threads with the others'; look "
                        "for "
                        "sessions here that hold locks, for backups, and for tables without a primary key."
                    ),
                ),
                expected=Message("The cluster writes as fast as its other nodes can."),
                would_change_our_mind=Message("A backup or a bulk job on this node."),
            ),
        )
    )


rule.fires(
    "Twice a second",
    scene("mariadb 10.11.18", {"wsrep_on": "ON"}, counters={"wsrep_flow_control_sent": 2}, deliberate=True),
)
rule.passes(
    "Never", scene("mariadb 10.11.18", {"wsrep_on": "ON"}, counters={"wsrep_flow_control_sent": 0}, deliberate=True)
)
rule.passes(
    "Three times in an hour",
    scene(
        "mariadb 11.4.5",
        {"wsrep_on": "ON"},
        counters={"wsrep_flow_control_sent": 3 / HOUR},
        seconds=HOUR,
        every=60,
    ),
)
