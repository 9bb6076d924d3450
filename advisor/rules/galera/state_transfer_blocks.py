"""A node that sends its data to a new one stands still meanwhile.

Why it matters
    With the methods rsync and mysqldump the donor of a state transfer is locked for writes until the last byte is
    sent: minutes to hours, by the size of the data. The cluster has one node less just when it is rebuilding another;
    with three nodes one is left.

How it is computed
    wsrep_on is ON and wsrep_sst_method is rsync (the default) or mysqldump. mariabackup copies while the donor goes
    on working.

When to dismiss it
    The data are small enough for seconds, or a donor is kept aside for this (wsrep_sst_donor).
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.facts.galera import ClusterNode
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.mysql.proposal import Investigate


@dataclass(frozen=True)
class Node(Settings):
    """The setting of this node."""

    wsrep_sst_method: str


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mariadb>=10.2"],
    since="0.2",
    references=[
        "https://mariadb.com/docs/galera-cluster/high-availability/state-snapshot-transfers-ssts-in-galera-cluster/introduction-to-state-snapshot-transfers-ssts"
    ],
)


@rule.check
def check(_node_of: ClusterNode, node: Node) -> Finding | Passed:
    if node.wsrep_sst_method.lower() not in ("rsync", "rsync_wan", "mysqldump"):
        return Passed(node.measured())
    return Finding(
        (
            Item(
                message=Message("The donor of a state transfer is locked until all data are sent"),
                evidence=node.measured(),
                proposal=(
                    Investigate(
                        "Install mariadb-backup and socat on all nodes, create its account (wsrep_sst_auth), and set "
                        "wsrep_sst_method = mariabackup in the option file of every node."
                    ),
                ),
                expected=Message("A node can join while its donor goes on working."),
                price=(Price(PriceKind.DISK_WRITES, Message("the joining node prepares the copy before it starts")),),
                would_change_our_mind=Message("Data that are copied within seconds."),
            ),
        )
    )


rule.fires("As it should not be", scene("mariadb 10.11.18", {"wsrep_on": "ON", "wsrep_sst_method": "rsync"}))
rule.fires("The same on an older node", scene("mariadb 10.5.23", {"wsrep_on": "ON", "wsrep_sst_method": "rsync"}))
rule.passes("As it should be", scene("mariadb 10.11.18", {"wsrep_on": "ON", "wsrep_sst_method": "mariabackup"}))
rule.passes("Also on a newer node", scene("mariadb 11.4.5", {"wsrep_on": "ON", "wsrep_sst_method": "mariabackup"}))
