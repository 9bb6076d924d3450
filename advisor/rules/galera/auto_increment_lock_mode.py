"""A Galera node locks tables for AUTO_INCREMENT.

Why it matters
    Galera needs innodb_autoinc_lock_mode = 2: with 0 and 1 an insert may hold a lock on the whole table, which a
    write set of another node cannot break. Appliers then wait or deadlock with local inserts, and replication of the
    node stops.

How it is computed
    wsrep_on is ON and innodb_autoinc_lock_mode is not 2. MariaDB's default is 1, so that it has to be set on each
    node. Binary logs are in the format ROW on such a node, with which 2 is safe.

When to dismiss it
    This node is never written to, which a fail-over changes.
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

    innodb_autoinc_lock_mode: int


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mariadb>=10.2"],
    since="0.2",
    references=[
        "https://mariadb.com/docs/galera-cluster/galera-management/configuration/configuring-mariadb-galera-cluster",
        "https://mariadb.com/docs/galera-cluster/reference/galera-cluster-system-variables",
    ],
)


@rule.check
def check(_node_of: ClusterNode, node: Node) -> Finding | Passed:
    if not (node.innodb_autoinc_lock_mode != 2):
        return Passed(node.measured())
    return Finding(
        (
            Item(
                message=Message("innodb_autoinc_lock_mode is not 2: inserts and appliers can deadlock on this node"),
                evidence=node.measured(),
                proposal=(SetVariable("innodb_autoinc_lock_mode", 2),),
                expected=Message("Inserts take no lock on the whole table."),
                price=(Price(PriceKind.RESTART, Message("numbers of one INSERT ... SELECT may have gaps")),),
                would_change_our_mind=Message("A node that is never written to."),
            ),
        )
    )


rule.fires(
    "As it should not be",
    scene("mariadb 10.11.18", {"wsrep_on": "ON", "innodb_autoinc_lock_mode": 1}),
    proposes={"innodb_autoinc_lock_mode": 2},
)
rule.fires(
    "The same on an older node",
    scene("mariadb 10.5.23", {"wsrep_on": "ON", "innodb_autoinc_lock_mode": 1}),
    proposes={"innodb_autoinc_lock_mode": 2},
)
rule.passes("As it should be", scene("mariadb 10.11.18", {"wsrep_on": "ON", "innodb_autoinc_lock_mode": 2}))
rule.passes("Also on a newer node", scene("mariadb 11.4.5", {"wsrep_on": "ON", "innodb_autoinc_lock_mode": 2}))
