"""A slow Galera node applies with fewer threads than its write sets allow.

Why it matters
    Write sets that do not depend on each other can be applied at the same time. A node with one applier (the default)
    does them one after the other; once it is slower than the others write, it stops them all.

How it is computed
    The node asks for flow control, at least once in ten seconds between full snapshots, and wsrep_cert_deps_distance
    (how many write sets on average could be applied side by side) is above wsrep_slave_threads. Proposed is that
    distance, at most 16: more threads than write sets that are independent only wait for each other, and no number of
    CPUs changes that.

When to dismiss it
    The node is slow for another reason: a lock, a backup, a full disk.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import HarmRates, Settings, Status
from advisor.engine.facts.galera import ClusterNode
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import SetVariable

MOST_THREADS = 16


@dataclass(frozen=True)
class Threads(Settings):
    """How many threads apply."""

    wsrep_slave_threads: int


@dataclass(frozen=True)
class Distance(Status):
    """How many write sets, on average, do not depend on each other."""

    wsrep_cert_deps_distance: float


@dataclass(frozen=True)
class Sent(HarmRates):
    """How often this node asked the others to stop, per second."""

    wsrep_flow_control_sent: float


@dataclass(frozen=True)
class Parameters(Thresholds):
    """When the node is slow."""

    sent_per_second: float = threshold(0.1, unit=Unit.PER_SECOND, meaning="requests to stop", leave_at=0.03)


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    caused_by=[Sent],
    raises=["wsrep_slave_threads"],
    references=[
        "https://mariadb.com/docs/galera-cluster/reference/galera-cluster-system-variables",
        "https://mariadb.com/docs/galera-cluster/reference/galera-cluster-status-variables",
    ],
)


@rule.check
def check(_node_of: ClusterNode, threads: Threads, distance: Distance, sent: Sent, p: Parameters) -> Finding | Passed:
    figures = (*threads.measured(), *distance.measured(), *sent.measured())
    wanted = min(MOST_THREADS, int(distance.wsrep_cert_deps_distance))
    if sent.wsrep_flow_control_sent < p.sent_per_second or wanted <= threads.wsrep_slave_threads:
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message(
                    "This slow node applies with {threads} threads, and {distance} write sets could be applied at once",
                    {
                        "threads": Quantity(threads.wsrep_slave_threads, Unit.COUNT),
                        "distance": Quantity(int(distance.wsrep_cert_deps_distance), Unit.COUNT),
                    },
                ),
                evidence=figures,
                proposal=(SetVariable("wsrep_slave_threads", wanted),),
                expected=Message("The node applies more at once and stops the others less often."),
                price=(Price(PriceKind.OVERHEAD, Message("that many threads write at once on this node")),),
                would_change_our_mind=Message("A lock, a backup or a full disk that slows this node."),
            ),
        )
    )


rule.fires(
    "One thread, twelve independent write sets",
    scene(
        "mariadb 10.11.18",
        {"wsrep_on": "ON", "wsrep_slave_threads": 1},
        status={"wsrep_cert_deps_distance": "12.7"},
        counters={"wsrep_flow_control_sent": 1},
        deliberate=True,
    ),
    proposes={"wsrep_slave_threads": 12},
)
rule.fires(
    "Never more than sixteen",
    scene(
        "mariadb 11.4.5",
        {"wsrep_on": "ON", "wsrep_slave_threads": 4},
        status={"wsrep_cert_deps_distance": "180.2"},
        counters={"wsrep_flow_control_sent": 1},
        deliberate=True,
    ),
    proposes={"wsrep_slave_threads": 16},
)
rule.passes(
    "One thread suffices",
    scene(
        "mariadb 10.11.18",
        {"wsrep_on": "ON", "wsrep_slave_threads": 1},
        status={"wsrep_cert_deps_distance": "12.7"},
        counters={"wsrep_flow_control_sent": 0},
        deliberate=True,
    ),
)
rule.passes(
    "Slow, but its write sets depend on each other",
    scene(
        "mariadb 10.11.18",
        {"wsrep_on": "ON", "wsrep_slave_threads": 4},
        status={"wsrep_cert_deps_distance": "3.1"},
        counters={"wsrep_flow_control_sent": 1},
        deliberate=True,
    ),
)
