"""A Galera node is not in step with its cluster.

Why it matters
    A node that joins, sends its data to another (donor), or is desynced applies the cluster's writes later or not at
    all: reads from it are stale, it counts little for fail-over, and load balancers that do not look at its state
    still send it queries.

How it is computed
    The node is in the primary component and wsrep_local_state is not 4 (Synced). A donor or a node under FLUSH TABLES
    WITH READ LOCK (2) is a notice, since backups do that on purpose; the others are warnings. wsrep_desync left on is
    told by a rule of its own.

When to dismiss it
    A backup or the start of another node is going on, and the load balancer knows.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.examples import made_node
from advisor.engine.facts.galera import ClusterNode, NodeState
from advisor.engine.outcome import Finding, Item, Message, Passed, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import Investigate


@dataclass(frozen=True)
class Desync(Settings):
    """Whether a person desynced the node."""

    wsrep_desync: bool = False


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    references=[
        "https://mariadb.com/docs/galera-cluster/reference/galera-cluster-status-variables",
        "https://docs.percona.com/percona-xtradb-cluster/8.0/wsrep-status-index.html",
    ],
)


@rule.check
def check(_node_of: ClusterNode, state: NodeState, desync: Desync) -> Finding | Passed:
    figures = (*state.measured(), *desync.measured())
    asked_for = state.wsrep_local_state == 2 and desync.wsrep_desync
    if not state.primary or state.wsrep_local_state == 4 or asked_for:
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message(
                    "This node is not in step with its cluster: {state}",
                    {"state": Quantity(state.wsrep_local_state_comment, Unit.TEXT)},
                ),
                evidence=figures,
                proposal=(
                    Investigate(
                        "See what it does: a state transfer to another node, a backup or a session with FLUSH TABLES "
                        "WITH "
                        "READ LOCK, or a node that joins. Make sure that the load balancer leaves it out until it is "
                        "Synced again."
                    ),
                ),
                severity=Severity.NOTICE if state.wsrep_local_state == 2 else None,
                would_change_our_mind=Message("A backup, or a node that is being added."),
            ),
        )
    )


rule.fires(
    "A donor, or a backup",
    scene(
        "mariadb 10.11.18",
        {"wsrep_on": "ON", "wsrep_desync": "OFF"},
        status=made_node(wsrep_local_state=2, wsrep_local_state_comment="Donor/Desynced"),
    ),
)
rule.fires(
    "Joined and catching up",
    scene(
        "mariadb 11.8.6",
        {"wsrep_on": "ON"},
        status=made_node(wsrep_local_state=3, wsrep_local_state_comment="Joined"),
    ),
)
rule.passes("Synced", scene("mariadb 10.11.18", {"wsrep_on": "ON"}, status=made_node()))
rule.passes(
    "Desynced on purpose is told elsewhere",
    scene(
        "mariadb 10.11.18",
        {"wsrep_on": "ON", "wsrep_desync": "ON"},
        status=made_node(wsrep_local_state=2, wsrep_local_state_comment="Donor/Desynced"),
    ),
)
