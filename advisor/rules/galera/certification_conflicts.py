"""Transactions are rolled back because another node changed the same rows.

Why it matters
    Galera lets each node change rows at once and finds out at the commit, or when the other node's write set arrives,
    that two of them collide: one gets a deadlock error at a place where applications seldom expect one. Many of them
    mean that several nodes write the same rows.

How it is computed
    wsrep_local_cert_failures and wsrep_local_bf_aborts rise together by at least one a minute and by more than 1 % of
    what this node replicates (wsrep_replicated), between full snapshots.

When to dismiss it
    The application repeats such transactions, and they cost little.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Rates
from advisor.engine.facts.galera import ClusterNode
from advisor.engine.outcome import Finding, Item, Message, Passed, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import Investigate


@dataclass(frozen=True)
class Conflicts(Rates):
    """Transactions refused at certification or aborted by a write set, and write sets replicated, per second."""

    wsrep_local_cert_failures: float
    wsrep_local_bf_aborts: float
    wsrep_replicated: float

    @property
    def lost(self) -> float:
        return self.wsrep_local_cert_failures + self.wsrep_local_bf_aborts


@dataclass(frozen=True)
class Parameters(Thresholds):
    """How many are too many."""

    lost_per_second: float = threshold(1 / 60, unit=Unit.PER_SECOND, meaning="lost transactions", leave_at=1 / 120)
    lost_ratio: float = threshold(0.01, unit=Unit.RATIO, meaning="lost for each replicated", leave_at=0.005)


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://mariadb.com/docs/galera-cluster/reference/galera-cluster-status-variables",
        "https://docs.percona.com/percona-xtradb-cluster/8.0/wsrep-status-index.html",
    ],
)


@rule.check
def check(_node_of: ClusterNode, conflicts: Conflicts, p: Parameters) -> Finding | Passed:
    figures = conflicts.measured()
    if conflicts.lost < p.lost_per_second or conflicts.lost < p.lost_ratio * conflicts.wsrep_replicated:
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message(
                    "{rate} transactions a second are rolled back, since another node changed the same rows",
                    {"rate": Quantity(conflicts.lost, Unit.COUNT)},
                ),
                evidence=figures,
                proposal=(
                    Investigate(
                        "Send writes of the same tables to one node; SET GLOBAL wsrep_log_conflicts = ON for a while "
                        "shows "
                        "which tables and rows collide. Applications have to repeat a transaction that got a deadlock."
                    ),
                ),
                expected=Message("Fewer transactions end in a deadlock error."),
                would_change_our_mind=Message("An application that repeats them at little cost."),
            ),
        )
    )


rule.fires(
    "One in fifty",
    scene(
        "mariadb 10.11.18",
        {"wsrep_on": "ON"},
        counters={"wsrep_local_cert_failures": 1, "wsrep_local_bf_aborts": 1, "wsrep_replicated": 100},
        deliberate=True,
    ),
)
rule.passes(
    "One in a thousand",
    scene(
        "mariadb 10.11.18",
        {"wsrep_on": "ON"},
        counters={"wsrep_local_cert_failures": 0, "wsrep_local_bf_aborts": 1, "wsrep_replicated": 1000},
        deliberate=True,
    ),
)
rule.passes(
    "None",
    scene(
        "mariadb 11.4.5",
        {"wsrep_on": "ON"},
        counters={"wsrep_local_cert_failures": 0, "wsrep_local_bf_aborts": 0, "wsrep_replicated": 10},
        deliberate=True,
    ),
)
