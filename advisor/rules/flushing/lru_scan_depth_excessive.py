"""A quarter of the buffer pool and more is kept empty.

Why it matters
    innodb_lru_scan_depth is how many pages the page cleaner keeps free in each instance of the buffer pool, so that
    whoever reads a page finds room. Free pages cache nothing: with a great depth, or many instances of a small pool, a
    good part of the memory lies idle, and the cleaner searches that many pages every second.

How it is computed
    From the settings: innodb_lru_scan_depth is above this version's default, and times the number of instances
    (MariaDB has one since 10.5) more than a quarter of the pool's pages. An eighth of the pool is proposed, but no less
    than the default.

When to dismiss it
    Reads come in bursts, waits for free pages were seen with less, and the pool cannot be made bigger.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
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
from advisor.engine.units import GIB, MIB, Quantity, Unit
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class Depth(Settings):
    """The depth in pages, and what it is taken from."""

    innodb_lru_scan_depth: int
    innodb_buffer_pool_size: int
    innodb_page_size: int
    innodb_buffer_pool_instances: int = 1

    @property
    def pages(self) -> int:
        """How many pages the pool has."""
        return self.innodb_buffer_pool_size // max(self.innodb_page_size, 1)


@dataclass(frozen=True)
class Parameters(Thresholds):
    """How much may be kept empty."""

    empty_ratio: float = threshold(
        0.25, unit=Unit.RATIO, meaning="pages kept free as a share of the pool, at most", leave_at=0.2
    )
    proposed_ratio: float = threshold(0.125, unit=Unit.RATIO, meaning="the same, as it is proposed")
    usual_pages: float = threshold(1536, unit=Unit.COUNT, meaning="a depth that is never called excessive")


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-parameters.html",
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-buffer-pool-flushing.html",
        "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-system-variables",
    ],
)


@rule.check
def check(depth: Depth, _log: OwnRedoLog, p: Parameters) -> Finding | Passed:
    figures = depth.measured()
    instances = max(1, depth.innodb_buffer_pool_instances)
    kept = depth.innodb_lru_scan_depth * instances
    if depth.innodb_lru_scan_depth <= p.usual_pages or kept <= p.empty_ratio * depth.pages:
        return Passed(figures)
    wanted = max(int(p.usual_pages), int(p.proposed_ratio * depth.pages / instances) // 128 * 128)
    return Finding(
        (
            Item(
                message=Message(
                    "innodb_lru_scan_depth = {depth} keeps {share} of the buffer pool empty",
                    {
                        "depth": Quantity(depth.innodb_lru_scan_depth, Unit.COUNT),
                        "share": Quantity(min(1.0, kept / depth.pages), Unit.RATIO),
                    },
                ),
                evidence=figures,
                proposal=(SetVariable("innodb_lru_scan_depth", wanted),),
                expected=Message("More of the pool caches pages, and the page cleaner searches less every second."),
                price=(Price(PriceKind.READ_LATENCY, Message("a burst of reads may wait for a page to become free")),),
                would_change_our_mind=Message("Innodb_buffer_pool_wait_free that rises with the proposal in place."),
            ),
        )
    )


rule.fires(
    "16,384 pages of a pool of 128 MiB",
    scene("mysql 8.0.33", {"innodb_lru_scan_depth": 16_384}),
    proposes={"innodb_lru_scan_depth": 1536},
)
rule.fires(
    "Eight instances of a pool of 1 GiB on MySQL 5.7",
    scene(
        "mysql 5.7.22",
        {"innodb_lru_scan_depth": 4096, "innodb_buffer_pool_size": GIB, "innodb_buffer_pool_instances": 8},
    ),
    proposes={"innodb_lru_scan_depth": 1536},
)
rule.fires(
    "MariaDB 10.11 with a third of 1 GiB",
    scene("mariadb 10.11.18", {"innodb_lru_scan_depth": 22_000, "innodb_buffer_pool_size": GIB}),
    proposes={"innodb_lru_scan_depth": 8192},
)
rule.passes(
    "The same depth in a big pool",
    scene("mysql 8.0.33", {"innodb_lru_scan_depth": 16_384, "innodb_buffer_pool_size": 8 * GIB}),
)
rule.passes("The default in a pool of 128 MiB", scene("mysql 5.7.22"))
rule.passes(
    "MariaDB with its default in a small pool",
    scene("mariadb 10.11.18", {"innodb_lru_scan_depth": 1536, "innodb_buffer_pool_size": 64 * MIB}),
)
