"""The thread pool has far more or far fewer groups than there are CPUs.

Why it matters
    MariaDB's thread pool runs statements in thread_pool_size groups, one statement at a time in each as long as it
    does not wait. With many more groups than CPUs it is no pool any more: everything runs at once. With far fewer,
    CPUs stay idle while statements queue.

How it is computed
    thread_handling is pool-of-threads, and thread_pool_size is more than twice or less than half the number of CPUs
    that was stated. The proposal is that number, MariaDB's own default. Values in between pass: no exact number is
    asked for.

When to dismiss it
    The CPUs are shared with another server, or statements mostly wait for storage and more groups were measured to
    help.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.facts.memory import HostCpus
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene, stated
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class ThreadPool(Settings):
    """How connections get their threads, and how many groups of threads there are."""

    thread_handling: str
    thread_pool_size: int


@dataclass(frozen=True)
class Parameters(Thresholds):
    """When a pool does not fit its CPUs."""

    most: float = threshold(2, unit=Unit.RATIO, meaning="groups for each CPU, above which they are too many")
    fewest: float = threshold(0.5, unit=Unit.RATIO, meaning="groups for each CPU, below which they are too few")


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://mariadb.com/docs/server/ha-and-performance/optimization-and-tuning/buffers-caches-and-threads/thread-pool/thread-pool-in-mariadb",
    ],
)


@rule.check
def check(pool: ThreadPool, cpus: HostCpus, p: Parameters) -> Finding | Passed:
    figures = pool.measured() + cpus.measured()
    groups = pool.thread_pool_size
    if pool.thread_handling != "pool-of-threads" or p.fewest * cpus.count <= groups <= p.most * cpus.count:
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message(
                    "The thread pool has {groups} groups for {cpus} CPUs",
                    {"groups": Quantity(groups, Unit.COUNT), "cpus": Quantity(cpus.count, Unit.COUNT)},
                ),
                evidence=figures,
                proposal=(SetVariable("thread_pool_size", cpus.count),),
                expected=Message("As many statements are at work as there are CPUs for them."),
                price=(
                    Price(
                        PriceKind.OVERHEAD,
                        Message("statements that wait for storage leave a CPU idle until the pool notices"),
                        Quantity(groups, Unit.COUNT),
                        Quantity(cpus.count, Unit.COUNT),
                    ),
                ),
                would_change_our_mind=Message("Another number of CPUs than was stated."),
            ),
        )
    )


rule.fires(
    "64 groups on 8 CPUs",
    scene(
        "mariadb 10.11.18",
        {"thread_handling": "pool-of-threads", "thread_pool_size": 64},
        host=stated(cpus=8),
    ),
    proposes={"thread_pool_size": 8},
)
rule.fires(
    "Two groups on 32 CPUs",
    scene("mariadb 11.8.6", {"thread_handling": "pool-of-threads", "thread_pool_size": 2}, host=stated(cpus=32)),
    proposes={"thread_pool_size": 32},
)
rule.passes(
    "Twelve groups on 8 CPUs",
    scene(
        "mariadb 10.11.18",
        {"thread_handling": "pool-of-threads", "thread_pool_size": 12},
        host=stated(cpus=8),
    ),
)
rule.passes(
    "No pool",
    scene(
        "mariadb 10.11.18",
        {"thread_handling": "one-thread-per-connection", "thread_pool_size": 64},
        host=stated(cpus=8),
    ),
)
