"""A Galera node was taken out of flow control and left there.

Why it matters
    With wsrep_desync on the cluster no longer waits for this node, and it may fall behind without limit: reads from
    it get old, it is no safe target of a fail-over, and its long queue takes memory and disk. It is meant for the
    time of a backup or a rolling change.

How it is computed
    wsrep_on is ON and wsrep_desync is ON; it is OFF by default and after each start.

When to dismiss it
    A backup or a rolling schema change runs on this node just now, and ends with the switch.
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

    wsrep_desync: bool


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mariadb>=10.2"],
    since="0.2",
    references=["https://mariadb.com/docs/galera-cluster/reference/galera-cluster-system-variables"],
)


@rule.check
def check(_node_of: ClusterNode, node: Node) -> Finding | Passed:
    if not (node.wsrep_desync):
        return Passed(node.measured())
    return Finding(
        (
            Item(
                message=Message("wsrep_desync = ON: this node may fall behind its cluster without limit"),
                evidence=node.measured(),
                proposal=(SetVariable("wsrep_desync", False),),
                expected=Message("The cluster waits for this node again where it falls behind."),
                price=(
                    Price(
                        PriceKind.WRITE_LATENCY, Message("while it catches up, flow control may slow the other nodes")
                    ),
                ),
                would_change_our_mind=Message("A backup or a rolling change that runs now."),
            ),
        )
    )


rule.fires(
    "As it should not be",
    scene("mariadb 10.11.18", {"wsrep_on": "ON", "wsrep_desync": "ON"}),
    proposes={"wsrep_desync": False},
)
rule.fires(
    "The same on an older node",
    scene("mariadb 10.5.23", {"wsrep_on": "ON", "wsrep_desync": "ON"}),
    proposes={"wsrep_desync": False},
)
rule.passes("As it should be", scene("mariadb 10.11.18", {"wsrep_on": "ON", "wsrep_desync": "OFF"}))
rule.passes("Also on a newer node", scene("mariadb 11.4.5", {"wsrep_on": "ON", "wsrep_desync": "OFF"}))
