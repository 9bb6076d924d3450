"""The cluster stops its writers to wait for a slow node.

Why it matters
    When the queue of write sets that one node has received and not yet applied grows too long, it asks all nodes to
    stop committing until it has caught up. Every writer of the cluster then waits for the slowest node.

How it is computed
    wsrep_flow_control_paused_ns rises between full snapshots by more than 2 % of the time. The older
    wsrep_flow_control_paused is a mean since the last FLUSH STATUS and is not used.

When to dismiss it
    One node is being backed up or rebuilt, and it is known that it slows the others.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Rates
from advisor.engine.facts.galera import ClusterNode
from advisor.engine.outcome import Finding, Item, Measured, Message, Passed, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import HOUR, Quantity, Unit
from advisor.mysql.proposal import Investigate


@dataclass(frozen=True)
class Pauses(Rates):
    """Nanoseconds that replication was paused, and messages of flow control from and to this node, per second."""

    wsrep_flow_control_paused_ns: float
    wsrep_flow_control_recv: float = 0.0

    @property
    def ratio(self) -> float:
        """Share of the time."""
        return self.wsrep_flow_control_paused_ns / 1e9


@dataclass(frozen=True)
class Parameters(Thresholds):
    """How much is too much."""

    paused_ratio: float = threshold(0.02, unit=Unit.RATIO, meaning="share of time that commits stood", leave_at=0.01)
    much_ratio: float = threshold(0.2, unit=Unit.RATIO, meaning="share that makes it critical", leave_at=0.15)


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
def check(_node_of: ClusterNode, pauses: Pauses, p: Parameters) -> Finding | Passed:
    figures = (
        Measured(
            "time paused by flow control", pauses.ratio, Unit.RATIO, pauses.window, "wsrep_flow_control_paused_ns"
        ),
        *pauses.measured("wsrep_flow_control_recv"),
    )
    if pauses.ratio < p.paused_ratio:
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message(
                    "Commits stood still for {ratio} of the time, waiting for a slow node",
                    {"ratio": Quantity(pauses.ratio, Unit.RATIO)},
                ),
                evidence=figures,
                proposal=(
                    Investigate(
                        "Find the node that asks for it: wsrep_flow_control_sent rises there. Look at its disk, its "
                        "applier threads, locks of its sessions and tables without a primary key; a larger "
                        "gcs.fc_limit "
                        "only hides it, and makes its reads older."
                    ),
                ),
                severity=Severity.CRITICAL if pauses.ratio >= p.much_ratio else None,
                expected=Message("Commits no longer wait for one node."),
                would_change_our_mind=Message("A node that is being backed up or rebuilt."),
            ),
        )
    )


rule.fires(
    "A twentieth of the time",
    scene(
        "mariadb 10.11.18",
        {"wsrep_on": "ON"},
        counters={"wsrep_flow_control_paused_ns": 50_000_000, "wsrep_flow_control_recv": 3},
        deliberate=True,
    ),
)
rule.fires(
    "Half of an hour",
    scene(
        "mariadb 11.4.5",
        {"wsrep_on": "ON"},
        counters={"wsrep_flow_control_paused_ns": 500_000_000, "wsrep_flow_control_recv": 1},
        seconds=HOUR,
        every=60,
    ),
)
rule.passes(
    "A thousandth",
    scene(
        "mariadb 10.11.18",
        {"wsrep_on": "ON"},
        counters={"wsrep_flow_control_paused_ns": 1_000_000, "wsrep_flow_control_recv": 0.1},
        deliberate=True,
    ),
)
