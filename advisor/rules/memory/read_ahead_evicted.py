"""Pages that were read ahead are thrown out before anybody used them.

Why it matters
    InnoDB reads a whole extent of 64 pages ahead when it believes that a scan goes on. Pages that leave the pool
    again without one access were read for nothing, and pushed out others that were of use.

How it is computed
    Innodb_buffer_pool_read_ahead_evicted is more than a fifth of Innodb_buffer_pool_read_ahead, by rates, and at
    least ten pages a second. The proposal raises innodb_read_ahead_threshold, the number of pages of an extent that
    must have been read in order before the next is read ahead: a higher threshold reads less ahead, a lower one
    more. Where it is at 64 already the pool is too small for the scans that go on. With innodb_random_read_ahead
    on, that one is switched off first. MariaDB 10.11 and 11 count no such pages any more: the counter stayed at 0
    under scans that made 10.5 count a third.

When to dismiss it
    The scans are a backup or a report that runs once.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import HarmRates, Settings
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import Change, Investigate, SetVariable


@dataclass(frozen=True)
class ReadAhead(Settings):
    """After how many pages of an extent the next one is read ahead, and whether scattered pages trigger it, too."""

    innodb_read_ahead_threshold: int
    innodb_random_read_ahead: bool


@dataclass(frozen=True)
class ReadAheadRates(HarmRates):
    """Pages read ahead, and those of them thrown out unused, per second."""

    innodb_buffer_pool_read_ahead: float
    innodb_buffer_pool_read_ahead_evicted: float


@dataclass(frozen=True)
class Parameters(Thresholds):
    """When too much is read ahead."""

    evicted_ratio: float = threshold(
        0.2, unit=Unit.RATIO, meaning="share of the pages read ahead that nobody used", leave_at=0.15
    )
    evicted_per_second: float = threshold(
        10, unit=Unit.PAGES_PER_SECOND, meaning="pages read ahead that nobody used", leave_at=8
    )


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2,<10.6"],
    since="0.2",
    parameters=Parameters(),
    caused_by=[ReadAheadRates],
    raises=["innodb_read_ahead_threshold"],
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-performance-read_ahead.html",
        "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-system-variables",
    ],
)


@rule.check
def check(ahead: ReadAhead, rates: ReadAheadRates, p: Parameters) -> Finding | Passed:
    figures = ahead.measured() + rates.measured()
    evicted = rates.innodb_buffer_pool_read_ahead_evicted
    if evicted < p.evicted_per_second or evicted <= p.evicted_ratio * rates.innodb_buffer_pool_read_ahead:
        return Passed(figures)
    present = ahead.innodb_read_ahead_threshold
    proposal: tuple[Change, ...]
    if ahead.innodb_random_read_ahead:
        proposal = (SetVariable("innodb_random_read_ahead", False),)
    elif 0 < present < 64:
        proposal = (SetVariable("innodb_read_ahead_threshold", min(64, max(56, present + 8))),)
    else:
        proposal = (
            Investigate("Find the scans that go on at once: the buffer pool is too small for what they read ahead."),
        )
    return Finding(
        (
            Item(
                message=Message(
                    "{pages} were read ahead and thrown out unused",
                    {"pages": Quantity(evicted, Unit.PAGES_PER_SECOND)},
                ),
                evidence=figures,
                proposal=proposal,
                expected=Message("Fewer pages are read for nothing, and others stay in memory."),
                price=(Price(PriceKind.READ_LATENCY, Message("long scans find fewer of their pages read already")),),
                would_change_our_mind=Message("A backup or one large report in the window."),
            ),
        )
    )


_WASTED = {"Innodb_buffer_pool_read_ahead": 900, "Innodb_buffer_pool_read_ahead_evicted": 500}
rule.fires(
    "Half of what is read ahead is wasted: the threshold goes up",
    scene("mysql 8.0.33", counters=_WASTED, deliberate=True),
    proposes={"innodb_read_ahead_threshold": 64},
)
rule.fires(
    "MariaDB with a low threshold",
    scene("mariadb 10.5.23", {"innodb_read_ahead_threshold": 16}, counters=_WASTED, deliberate=True),
    proposes={"innodb_read_ahead_threshold": 56},
)
rule.fires(
    "Scattered pages trigger it, too: that first",
    scene("mysql 5.7.22", {"innodb_random_read_ahead": "ON"}, counters=_WASTED, deliberate=True),
    proposes={"innodb_random_read_ahead": False},
)
rule.passes(
    "What is read ahead is used",
    scene(
        "mysql 8.0.33",
        counters={"Innodb_buffer_pool_read_ahead": 900, "Innodb_buffer_pool_read_ahead_evicted": 20},
        deliberate=True,
    ),
)
rule.passes(
    "Nothing is read ahead",
    scene(
        "mariadb 10.5.23",
        counters={"Innodb_buffer_pool_read_ahead": 0, "Innodb_buffer_pool_read_ahead_evicted": 0},
        deliberate=True,
    ),
)
