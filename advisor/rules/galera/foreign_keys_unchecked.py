"""Appliers of this node do not check foreign keys.

Why it matters
    With wsrep_slave_FK_checks off rows are applied here that have no parent, or parents are removed below their
    children. This node then holds what the constraint forbids, and a later DELETE or ALTER fails here and not
    elsewhere: the node leaves the cluster.

How it is computed
    wsrep_on is ON and wsrep_slave_fk_checks is OFF; the default is ON.

When to dismiss it
    No table has a foreign key, and none is going to have one.
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

    wsrep_slave_fk_checks: bool


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mariadb>=10.2"],
    since="0.2",
    references=["https://mariadb.com/docs/galera-cluster/reference/galera-cluster-system-variables"],
)


@rule.check
def check(_node_of: ClusterNode, node: Node) -> Finding | Passed:
    if not (not node.wsrep_slave_fk_checks):
        return Passed(node.measured())
    return Finding(
        (
            Item(
                message=Message("wsrep_slave_FK_checks = OFF: rows without their parents are applied on this node"),
                evidence=node.measured(),
                proposal=(SetVariable("wsrep_slave_fk_checks", True),),
                expected=Message("This node holds only what its constraints allow."),
                price=(Price(PriceKind.OVERHEAD, Message("each applied row looks for its parent")),),
                would_change_our_mind=Message("Schemas without foreign keys."),
            ),
        )
    )


rule.fires(
    "As it should not be",
    scene("mariadb 10.11.18", {"wsrep_on": "ON", "wsrep_slave_fk_checks": "OFF"}),
    proposes={"wsrep_slave_fk_checks": True},
)
rule.fires(
    "The same on an older node",
    scene("mariadb 10.5.23", {"wsrep_on": "ON", "wsrep_slave_fk_checks": "OFF"}),
    proposes={"wsrep_slave_fk_checks": True},
)
rule.passes("As it should be", scene("mariadb 10.11.18", {"wsrep_on": "ON", "wsrep_slave_fk_checks": "ON"}))
rule.passes("Also on a newer node", scene("mariadb 11.4.5", {"wsrep_on": "ON", "wsrep_slave_fk_checks": "ON"}))
