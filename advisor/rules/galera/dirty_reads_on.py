"""A node that is cut off answers reads with old data.

Why it matters
    With wsrep_dirty_reads on, a node that lost the majority still answers SELECT, from what it knew when it was cut
    off. Load balancers that only try a query keep sending readers there, who take yesterday's data for today's.

How it is computed
    wsrep_on is ON and the global wsrep_dirty_reads is ON; the default is OFF.

When to dismiss it
    Old answers are better than none for all that reads here.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.facts.galera import ClusterNode
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class Node(Settings):
    """The setting of this node."""

    wsrep_dirty_reads: bool


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mariadb>=10.2"],
    since="0.2",
    references=["https://mariadb.com/docs/galera-cluster/reference/galera-cluster-system-variables"],
)


@rule.check
def check(_node_of: ClusterNode, node: Node) -> Finding | Passed:
    if not (node.wsrep_dirty_reads):
        return Passed(node.measured())
    return Finding(
        (
            Item(
                message=Message("wsrep_dirty_reads = ON: if it is cut off, this node answers with old data"),
                evidence=node.measured(),
                proposal=(SetVariable("wsrep_dirty_reads", False),),
                expected=Message("A node that is cut off refuses reads, and readers go elsewhere."),
                price=(Price(PriceKind.OVERHEAD, Message("readers of a node that is cut off get an error")),),
                would_change_our_mind=Message("Readers for whom old data are better than none."),
            ),
        )
    )


rule.fires(
    "As it should not be",
    scene("mariadb 10.11.18", {"wsrep_on": "ON", "wsrep_dirty_reads": "ON"}),
    proposes={"wsrep_dirty_reads": False},
)
rule.fires(
    "The same on an older node",
    scene("mariadb 10.5.23", {"wsrep_on": "ON", "wsrep_dirty_reads": "ON"}),
    proposes={"wsrep_dirty_reads": False},
)
rule.passes("As it should be", scene("mariadb 10.11.18", {"wsrep_on": "ON", "wsrep_dirty_reads": "OFF"}))
rule.passes("Also on a newer node", scene("mariadb 11.4.5", {"wsrep_on": "ON", "wsrep_dirty_reads": "OFF"}))
