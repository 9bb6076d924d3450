"""A Galera node is cut off from the majority of its cluster.

Why it matters
    A node that is not in the primary component refuses reads and writes (or, with wsrep_dirty_reads, answers with old
    data): for whoever is connected to it, the database is down. If all nodes say so, the whole cluster is.

How it is computed
    wsrep_on is ON and wsrep_cluster_status is anything but Primary, or wsrep_ready is OFF.

When to dismiss it
    The node is just being started or shut down.
"""

from __future__ import annotations

from advisor.engine.examples import made_node
from advisor.engine.facts.galera import ClusterNode, NodeState
from advisor.engine.outcome import Finding, Item, Message, Passed, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import Investigate

rule = Rule(
    __name__,
    severity=Severity.CRITICAL,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    references=[
        "https://mariadb.com/docs/galera-cluster/reference/galera-cluster-status-variables",
        "https://docs.percona.com/percona-xtradb-cluster/8.0/wsrep-status-index.html",
    ],
)


@rule.check
def check(_node_of: ClusterNode, state: NodeState) -> Finding | Passed:
    figures = state.measured()
    if state.primary and state.wsrep_ready.upper() == "ON":
        return Passed(figures)
    advice = (
        "Look from another node: SHOW GLOBAL STATUS LIKE 'wsrep_cluster%'. If others are Primary, mend the network "
        "between them and this one, or restart this node. If none is, find the node with the highest "
        "wsrep_last_committed and, on that one only, SET GLOBAL wsrep_provider_options = 'pc.bootstrap=YES'. Never on "
        "two nodes: that makes two clusters."
    )
    if state.primary:
        advice = "The node is in the primary component and not ready: its error log tells what it waits for."
    return Finding(
        (
            Item(
                message=Message(
                    "This node is {status} and ready is {ready}: it refuses queries",
                    {
                        "status": Quantity(state.wsrep_cluster_status, Unit.TEXT),
                        "ready": Quantity(state.wsrep_ready, Unit.TEXT),
                    },
                ),
                evidence=figures,
                proposal=(Investigate(advice),),
                expected=Message("The node takes part in the cluster again."),
                would_change_our_mind=Message("A node that is being started or stopped just now."),
            ),
        )
    )


rule.fires(
    "Cut off",
    scene(
        "mariadb 10.11.18",
        {"wsrep_on": "ON"},
        status=made_node(wsrep_cluster_status="non-Primary", wsrep_ready="OFF", wsrep_local_state=0),
    ),
)
rule.fires("Not ready", scene("mariadb 11.4.5", {"wsrep_on": "ON"}, status=made_node(wsrep_ready="OFF")))
rule.passes("One of three", scene("mariadb 10.11.18", {"wsrep_on": "ON"}, status=made_node()))
