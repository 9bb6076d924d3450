"""Index statistics are estimated from very few pages.

Why it matters
    innodb_stats_persistent_sample_pages is how many leaf pages of each index are looked at. With fewer than the 20 of
    every version's default, an index with uneven values is told wrong by a factor of ten, and by another one at the
    next estimate: plans change from day to day.

How it is computed
    From the setting alone: fewer than 20 pages. What it saves is a fraction of a second for each table.

When to dismiss it
    There are tens of thousands of tables, whose estimates would keep the device busy.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.facts.engines import StatisticsSample
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class Parameters(Thresholds):
    """How many are enough."""

    fewest_pages: float = threshold(20, unit=Unit.COUNT, meaning="pages of each index, fewer are too few")


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    raises=["innodb_stats_persistent_sample_pages"],
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-persistent-stats.html",
        "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-system-variables",
    ],
)


@rule.check
def check(sample: StatisticsSample, p: Parameters) -> Finding | Passed:
    pages = sample.innodb_stats_persistent_sample_pages
    if pages >= p.fewest_pages:
        return Passed(sample.measured())
    return Finding(
        (
            Item(
                message=Message(
                    "Index statistics are estimated from {pages} pages", {"pages": Quantity(pages, Unit.COUNT)}
                ),
                evidence=sample.measured(),
                proposal=(SetVariable("innodb_stats_persistent_sample_pages", int(p.fewest_pages)),),
                expected=Message("Estimates, and the plans that rest on them, stay about the same."),
                price=(Price(PriceKind.OVERHEAD, Message("an estimate reads some more pages of each index")),),
                would_change_our_mind=Message("Tens of thousands of tables."),
            ),
        )
    )


rule.fires(
    "One page on MySQL",
    scene("mysql 8.0.33", {"innodb_stats_persistent_sample_pages": 1}),
    proposes={"innodb_stats_persistent_sample_pages": 20},
)
rule.fires(
    "Eight pages on MariaDB",
    scene("mariadb 10.11.18", {"innodb_stats_persistent_sample_pages": 8}),
    proposes={"innodb_stats_persistent_sample_pages": 20},
)
rule.passes("The default", scene("mysql 8.0.33"))
rule.passes("More than that", scene("mariadb 10.11.18", {"innodb_stats_persistent_sample_pages": 256}))
