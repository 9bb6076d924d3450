"""The adaptive hash index answers hardly any search.

Why it matters
    The adaptive hash index spares searches the way down a B-tree, where the same pages are searched again and again
    by equal keys. Where it answers few of them it only costs: every change of a page has to keep it right, under
    latches that many threads share, and it lies in the buffer pool. Newer versions have it off by default.

How it is computed
    innodb_adaptive_hash_index is ON, at least 1,000 index searches a second were counted by innodb_metrics, and
    less than a fifth of them were answered by the hash (adaptive_hash_searches beside
    adaptive_hash_searches_btree). It can be switched off and on while the server runs. Where it answers more
    nothing is said, whatever the number of CPUs.

When to dismiss it
    The load of this window is not the usual one: an import, a backup, a report.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.facts.innodb_metrics import MetricRates
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class HashIndex(Settings):
    """Whether the adaptive hash index is on."""

    innodb_adaptive_hash_index: bool


@dataclass(frozen=True)
class Searches(MetricRates):
    """Searches of indexes per second: answered by the hash, and by going down the tree."""

    adaptive_hash_searches: float
    adaptive_hash_searches_btree: float


@dataclass(frozen=True)
class Parameters(Thresholds):
    """When the hash index is of no use."""

    searches_per_second: float = threshold(
        1000, unit=Unit.PER_SECOND, meaning="index searches from which on it matters", leave_at=800
    )
    answered_ratio: float = threshold(
        0.2, unit=Unit.RATIO, meaning="share of the searches that the hash answers", leave_at=0.25
    )


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-adaptive-hash.html",
        "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-system-variables",
    ],
)


@rule.check
def check(index: HashIndex, searches: Searches, p: Parameters) -> Finding | Passed:
    figures = index.measured() + searches.measured()
    together = searches.adaptive_hash_searches + searches.adaptive_hash_searches_btree
    if (
        not index.innodb_adaptive_hash_index
        or together < p.searches_per_second
        or searches.adaptive_hash_searches >= p.answered_ratio * together
    ):
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message(
                    "The adaptive hash index answers {share} of {searches} index searches a second",
                    {
                        "share": Quantity(searches.adaptive_hash_searches / together, Unit.RATIO),
                        "searches": Quantity(together, Unit.COUNT),
                    },
                ),
                evidence=figures,
                proposal=(SetVariable("innodb_adaptive_hash_index", False),),
                expected=Message("Changes of pages no longer have to keep the hash right."),
                price=(Price(PriceKind.OVERHEAD, Message("the searches that it did answer go down the tree again")),),
                would_change_our_mind=Message("A window with another load than usual."),
            ),
        )
    )


_SPREAD = {"adaptive_hash_searches": 300, "adaptive_hash_searches_btree": 9000}
rule.fires(
    "Searches all over a large table",
    scene("mysql 8.0.33", {"innodb_adaptive_hash_index": "ON"}, counters=_SPREAD, deliberate=True),
    proposes={"innodb_adaptive_hash_index": False},
)
rule.fires(
    "MariaDB, where somebody switched it on",
    scene("mariadb 10.11.18", {"innodb_adaptive_hash_index": "ON"}, counters=_SPREAD, deliberate=True),
    proposes={"innodb_adaptive_hash_index": False},
)
rule.passes(
    "Half of the searches are answered",
    scene(
        "mysql 8.0.33",
        {"innodb_adaptive_hash_index": "ON"},
        counters={"adaptive_hash_searches": 8000, "adaptive_hash_searches_btree": 9000},
        deliberate=True,
    ),
)
rule.passes(
    "It is off",
    scene("mariadb 10.11.18", {"innodb_adaptive_hash_index": "OFF"}, counters=_SPREAD, deliberate=True),
)
