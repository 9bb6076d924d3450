"""Tables that cannot roll back are replicated in a Galera cluster.

Why it matters
    Galera finds collisions when a transaction commits and rolls one of them back. MyISAM and Aria cannot roll back:
    their changes are sent as they happen, in total order, and two nodes that write the same table, or a statement
    that fails half way, leave different data. MariaDB calls it experimental.

How it is computed
    wsrep_on is ON and wsrep_replicate_myisam is on (before 10.6), or wsrep_mode contains REPLICATE_MYISAM or
    REPLICATE_ARIA.

When to dismiss it
    The tables are small, written on one node only, and compared now and then.
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
class Modes(Settings):
    """By the old name and the new one."""

    wsrep_replicate_myisam: bool = False
    wsrep_mode: str = ""

    @property
    def replicated(self) -> bool:
        words = self.wsrep_mode.upper()
        return self.wsrep_replicate_myisam or "REPLICATE_MYISAM" in words or "REPLICATE_ARIA" in words


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mariadb>=10.2"],
    since="0.2",
    references=["https://mariadb.com/docs/galera-cluster/reference/galera-cluster-system-variables"],
)


@rule.check
def check(_node_of: ClusterNode, modes: Modes) -> Finding | Passed:
    if not modes.replicated:
        return Passed(modes.measured())
    return Finding(
        (
            Item(
                message=Message("MyISAM or Aria tables are replicated though they cannot roll back: nodes may differ"),
                evidence=modes.measured(),
                proposal=(
                    Investigate(
                        "Move these tables to InnoDB, compare them between the nodes, then take REPLICATE_MYISAM and "
                        "REPLICATE_ARIA out of wsrep_mode (wsrep_replicate_myisam = OFF before 10.6)."
                    ),
                ),
                expected=Message("All that is replicated can be rolled back where nodes collide."),
                price=(Price(PriceKind.DISK_WRITES, Message("each table is rebuilt once")),),
                would_change_our_mind=Message("Small tables that one node alone writes."),
            ),
        )
    )


rule.fires("A mode", scene("mariadb 10.11.18", {"wsrep_on": "ON", "wsrep_mode": "REPLICATE_MYISAM,REPLICATE_ARIA"}))
rule.fires("The older switch", scene("mariadb 10.5.23", {"wsrep_on": "ON", "wsrep_replicate_myisam": "ON"}))
rule.passes("Neither", scene("mariadb 10.11.18", {"wsrep_on": "ON", "wsrep_mode": "REQUIRED_PRIMARY_KEY"}))
rule.passes("Off before 10.6", scene("mariadb 10.5.23", {"wsrep_on": "ON", "wsrep_replicate_myisam": "OFF"}))
