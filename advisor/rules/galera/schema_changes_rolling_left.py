"""Schema changes on this node are not replicated.

Why it matters
    With wsrep_OSU_method = RSU a DDL statement runs on this node only. That is a tool for one change that is repeated
    on each node; left on, the next CREATE or ALTER makes this node differ from the others, and a write set that does
    not fit ends it.

How it is computed
    wsrep_on is ON and the global wsrep_osu_method is RSU; TOI, which replicates DDL in total order, is the default.

When to dismiss it
    A schema change is being rolled over the nodes just now.
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

    wsrep_osu_method: str


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mariadb>=10.2"],
    since="0.2",
    references=["https://mariadb.com/docs/galera-cluster/reference/galera-cluster-system-variables"],
)


@rule.check
def check(_node_of: ClusterNode, node: Node) -> Finding | Passed:
    if not (node.wsrep_osu_method.upper() == "RSU"):
        return Passed(node.measured())
    return Finding(
        (
            Item(
                message=Message("wsrep_OSU_method = RSU: schema changes on this node do not reach the others"),
                evidence=node.measured(),
                proposal=(SetVariable("wsrep_osu_method", "TOI"),),
                expected=Message("All nodes get each schema change, at the same place in the order."),
                price=(
                    Price(PriceKind.WRITE_LATENCY, Message("a long ALTER TABLE stops the writes of the whole cluster")),
                ),
                would_change_our_mind=Message("A schema change that is being rolled over the nodes."),
            ),
        )
    )


rule.fires(
    "As it should not be",
    scene("mariadb 10.11.18", {"wsrep_on": "ON", "wsrep_osu_method": "RSU"}),
    proposes={"wsrep_osu_method": "TOI"},
)
rule.fires(
    "The same on an older node",
    scene("mariadb 10.5.23", {"wsrep_on": "ON", "wsrep_osu_method": "RSU"}),
    proposes={"wsrep_osu_method": "TOI"},
)
rule.passes("As it should be", scene("mariadb 10.11.18", {"wsrep_on": "ON", "wsrep_osu_method": "TOI"}))
rule.passes("Also on a newer node", scene("mariadb 11.4.5", {"wsrep_on": "ON", "wsrep_osu_method": "TOI"}))
