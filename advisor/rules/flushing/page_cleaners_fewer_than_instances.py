"""One page cleaner serves several instances of the buffer pool.

Why it matters
    Each page cleaner takes one instance of the buffer pool after the other. With fewer cleaners than half of the
    instances the last ones are reached late in each second, and run out of free pages or let their oldest pages hold
    back the checkpoint. MySQL 8.4 starts as many cleaners as there are instances.

How it is computed
    innodb_buffer_pool_instances is more than twice innodb_page_cleaners, and at least 50 pages a second are flushed
    between full snapshots. As many cleaners as instances are proposed. MariaDB has one instance and one cleaner since
    10.5.

When to dismiss it
    The machine has fewer CPUs than the proposal has cleaners.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.facts.flushing import PagesFlushed
from advisor.engine.facts.redo import OwnRedoLog
from advisor.engine.outcome import (
    Finding,
    Item,
    Message,
    Passed,
    Price,
    PriceKind,
    Severity,
)
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import GIB, Quantity, Unit
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class Cleaners(Settings):
    """Threads that flush, and the instances they serve."""

    innodb_page_cleaners: int
    innodb_buffer_pool_instances: int


@dataclass(frozen=True)
class Parameters(Thresholds):
    """When cleaners are too few."""

    instances: float = threshold(2, unit=Unit.RATIO, meaning="instances for each page cleaner, at most")
    flushed_per_second: float = threshold(
        50, unit=Unit.PAGES_PER_SECOND, meaning="pages flushed from which it matters", leave_at=30
    )


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2,<10.5"],
    since="0.2",
    parameters=Parameters(),
    raises=["innodb_page_cleaners"],
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-buffer-pool-flushing.html",
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-parameters.html",
        "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-system-variables",
    ],
)


@rule.check
def check(cleaners: Cleaners, flushed: PagesFlushed, _log: OwnRedoLog, p: Parameters) -> Finding | Passed:
    figures = cleaners.measured() + flushed.measured()
    instances = cleaners.innodb_buffer_pool_instances
    if (
        instances <= p.instances * cleaners.innodb_page_cleaners
        or flushed.innodb_buffer_pool_pages_flushed < p.flushed_per_second
    ):
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message(
                    "{cleaners} page cleaners serve {instances} instances of the buffer pool",
                    {
                        "cleaners": Quantity(cleaners.innodb_page_cleaners, Unit.COUNT),
                        "instances": Quantity(instances, Unit.COUNT),
                    },
                ),
                evidence=figures,
                proposal=(SetVariable("innodb_page_cleaners", instances),),
                expected=Message("All instances are flushed at the same time."),
                price=(Price(PriceKind.OVERHEAD, Message("more threads that write at the same time")),),
                would_change_our_mind=Message("Fewer CPUs than instances."),
            ),
        )
    )


_FLUSHED = {"Innodb_buffer_pool_pages_flushed": 800}
rule.fires(
    "One cleaner for eight instances on MySQL 5.7",
    scene(
        "mysql 5.7.22",
        {"innodb_page_cleaners": 1, "innodb_buffer_pool_instances": 8, "innodb_buffer_pool_size": 8 * GIB},
        counters=_FLUSHED,
        deliberate=True,
    ),
    proposes={"innodb_page_cleaners": 8},
)
rule.fires(
    "Four for sixteen on MariaDB 10.2",
    scene(
        "mariadb 10.2.11",
        {"innodb_page_cleaners": 4, "innodb_buffer_pool_instances": 16, "innodb_buffer_pool_size": 16 * GIB},
        counters=_FLUSHED,
        deliberate=True,
    ),
    proposes={"innodb_page_cleaners": 16},
)
rule.passes(
    "The defaults of MySQL 8.0 with a pool of 8 GiB: four for eight",
    scene(
        "mysql 8.0.33",
        {"innodb_page_cleaners": 4, "innodb_buffer_pool_instances": 8, "innodb_buffer_pool_size": 8 * GIB},
        counters=_FLUSHED,
        deliberate=True,
    ),
)
rule.passes(
    "One for eight, of a server that hardly flushes",
    scene(
        "mysql 5.7.22",
        {"innodb_page_cleaners": 1, "innodb_buffer_pool_instances": 8, "innodb_buffer_pool_size": 8 * GIB},
        counters={"Innodb_buffer_pool_pages_flushed": 2},
        deliberate=True,
    ),
)
rule.passes(
    "As many as instances on MariaDB 10.2",
    scene(
        "mariadb 10.2.11",
        {"innodb_page_cleaners": 4, "innodb_buffer_pool_instances": 4},
        counters=_FLUSHED,
        deliberate=True,
    ),
)
