"""Changes of tables without a primary key are replicated without certification.

Why it matters
    Certification finds out by keys whether two nodes changed the same row. With wsrep_certify_nonPK off rows of
    tables without a primary key have no key at all: collisions are not found, and the nodes end up with different
    data.

How it is computed
    wsrep_on is ON and wsrep_certify_nonpk is OFF; the default is ON.

When to dismiss it
    No table lacks a primary key, and none is going to lack one.
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

    wsrep_certify_nonpk: bool


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mariadb>=10.2"],
    since="0.2",
    references=["https://mariadb.com/docs/galera-cluster/reference/galera-cluster-system-variables"],
)


@rule.check
def check(_node_of: ClusterNode, node: Node) -> Finding | Passed:
    if not (not node.wsrep_certify_nonpk):
        return Passed(node.measured())
    return Finding(
        (
            Item(
                message=Message("wsrep_certify_nonPK = OFF: nodes can differ in tables without a primary key"),
                evidence=node.measured(),
                proposal=(SetVariable("wsrep_certify_nonpk", True),),
                expected=Message("Collisions in such tables are found."),
                price=(Price(PriceKind.OVERHEAD, Message("a key is made of the whole row of such tables")),),
                would_change_our_mind=Message("Schemas in which each table has a primary key."),
            ),
        )
    )


rule.fires(
    "As it should not be",
    scene("mariadb 10.11.18", {"wsrep_on": "ON", "wsrep_certify_nonpk": "OFF"}),
    proposes={"wsrep_certify_nonpk": True},
)
rule.fires(
    "The same on an older node",
    scene("mariadb 10.5.23", {"wsrep_on": "ON", "wsrep_certify_nonpk": "OFF"}),
    proposes={"wsrep_certify_nonpk": True},
)
rule.passes("As it should be", scene("mariadb 10.11.18", {"wsrep_on": "ON", "wsrep_certify_nonpk": "ON"}))
rule.passes("Also on a newer node", scene("mariadb 11.4.5", {"wsrep_on": "ON", "wsrep_certify_nonpk": "ON"}))
