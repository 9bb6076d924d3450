"""Every estimate of index statistics reads thousands of pages.

Why it matters
    innodb_stats_persistent_sample_pages counts for each column of each index of each table. With 10,000 pages an
    estimate of a table with ten indexes reads gigabytes, in the background after a tenth of the table changed, and
    pushes out of the buffer pool what others need. A table that needs a larger sample can have it for itself:
    STATS_SAMPLE_PAGES.

How it is computed
    From the setting alone: more than 1,000 pages. 256 are proposed, more than ten times the default.

When to dismiss it
    ANALYZE TABLE of the largest table was measured, and its time is fine.
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
    """How many are too many."""

    most_pages: float = threshold(1000, unit=Unit.COUNT, meaning="pages of each index that are too many above this")


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-analyze-table-complexity.html",
        "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-system-variables",
    ],
)

#: More than ten times the default: what a person who wanted more may be content with.
_ENOUGH = 256


@rule.check
def check(sample: StatisticsSample, p: Parameters) -> Finding | Passed:
    pages = sample.innodb_stats_persistent_sample_pages
    if pages <= max(p.most_pages, _ENOUGH):
        return Passed(sample.measured())
    return Finding(
        (
            Item(
                message=Message(
                    "Each estimate of index statistics reads {pages} pages of each index",
                    {"pages": Quantity(pages, Unit.COUNT)},
                ),
                evidence=sample.measured(),
                proposal=(SetVariable("innodb_stats_persistent_sample_pages", _ENOUGH),),
                expected=Message("Estimates take seconds, and leave the buffer pool alone."),
                price=(
                    Price(PriceKind.READ_LATENCY, Message("an index with very uneven values may be told less well")),
                ),
                would_change_our_mind=Message("A measured ANALYZE TABLE of the largest table whose time is fine."),
            ),
        )
    )


rule.fires(
    "Ten thousand pages",
    scene("mysql 8.0.33", {"innodb_stats_persistent_sample_pages": 10_000}),
    proposes={"innodb_stats_persistent_sample_pages": 256},
)
rule.fires(
    "The same on MariaDB",
    scene("mariadb 10.11.18", {"innodb_stats_persistent_sample_pages": 4000}),
    proposes={"innodb_stats_persistent_sample_pages": 256},
)
rule.passes("The default", scene("mysql 8.0.33"))
rule.passes("Ten times the default", scene("mariadb 10.11.18", {"innodb_stats_persistent_sample_pages": 200}))
