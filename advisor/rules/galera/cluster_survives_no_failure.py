"""A cluster whose number of nodes lets it survive too little.

Why it matters
    After a crash only a majority goes on. Of one node nothing is left; of two, one is no majority, so that the loss
    of either stops the other as well; four survive the loss of one, as three do, and can be split into halves of
    which neither goes on.

How it is computed
    wsrep_cluster_size, which counts a running arbitrator (garbd), too: 1 or 2 is a warning, 4, 6 and so on a notice.

When to dismiss it
    A node is away for maintenance; the nodes have weights (pc.weight) that break the tie; or the cluster is for
    tests.
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
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    references=[
        "https://mariadb.com/docs/galera-cluster/galera-cluster-quickstart-guides/mariadb-galera-cluster-guide",
        "https://mariadb.com/docs/galera-cluster/reference/galera-cluster-status-variables",
    ],
)


@rule.check
def check(_node_of: ClusterNode, state: NodeState) -> Finding | Passed:
    figures = state.measured("wsrep_cluster_size", "wsrep_cluster_status")
    size = state.wsrep_cluster_size
    if not state.primary or (size > 2 and size % 2):
        return Passed(figures)
    words = {
        1: Message("This node is the only one of its cluster: nothing is left if it fails"),
        2: Message("A cluster of two nodes: if either fails, the other stops"),
    }
    message = words.get(
        size,
        Message(
            "A cluster of {size} nodes can be split into halves that both stop", {"size": Quantity(size, Unit.COUNT)}
        ),
    )
    return Finding(
        (
            Item(
                message=message,
                evidence=figures,
                proposal=(
                    Investigate(
                        "Run an odd number of nodes, three at least, each in a place of its own; an arbitrator "
                        "(garbd) on a "
                        "third machine gives a vote without data."
                    ),
                ),
                severity=Severity.NOTICE if size > 2 else None,
                expected=Message("The cluster goes on when any one node is lost."),
                would_change_our_mind=Message("A node that is away for maintenance, or weights that break the tie."),
            ),
        )
    )


rule.fires("Two", scene("mariadb 10.11.18", {"wsrep_on": "ON"}, status=made_node(wsrep_cluster_size=2)))
rule.fires("Four", scene("mariadb 11.4.5", {"wsrep_on": "ON"}, status=made_node(wsrep_cluster_size=4)))
rule.passes("Three", scene("mariadb 10.11.18", {"wsrep_on": "ON"}, status=made_node()))
rule.passes("Five", scene("mariadb 11.4.5", {"wsrep_on": "ON"}, status=made_node(wsrep_cluster_size=5)))
