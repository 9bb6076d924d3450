"""Doublewrite batches are smaller than this version needs.

Why it matters
    Every page is written twice: into the doublewrite files first, innodb_doublewrite_pages at a time for each thread,
    with a sync after each batch. MySQL 8.4 raised the default to 128; option files from 8.0 carry its 4 along. Flushing
    then pays for a sync every 4 pages.

How it is computed
    innodb_doublewrite_pages is below 32 while doublewrite is on, and at least 50 pages a second are flushed between
    full snapshots. The default of 128 is proposed.

When to dismiss it
    A device that syncs for free (a write cache with a battery).
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
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class Doublewrite(Settings):
    """Whether pages are written twice, and how many at a time."""

    innodb_doublewrite_pages: int
    innodb_doublewrite: str


@dataclass(frozen=True)
class Parameters(Thresholds):
    """When the size of batches matters."""

    pages: float = threshold(32, unit=Unit.COUNT, meaning="innodb_doublewrite_pages at least")
    proposed_pages: float = threshold(128, unit=Unit.COUNT, meaning="the proposal: the default")
    flushed_per_second: float = threshold(
        50, unit=Unit.PAGES_PER_SECOND, meaning="pages flushed from which it matters", leave_at=30
    )


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=8.4"],
    since="0.2",
    parameters=Parameters(),
    raises=["innodb_doublewrite_pages"],
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-doublewrite-buffer.html",
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-parameters.html",
    ],
)


@rule.check
def check(doublewrite: Doublewrite, flushed: PagesFlushed, _log: OwnRedoLog, p: Parameters) -> Finding | Passed:
    figures = doublewrite.measured() + flushed.measured()
    off = doublewrite.innodb_doublewrite.upper() in ("OFF", "0", "DETECT_ONLY")
    if (
        off
        or doublewrite.innodb_doublewrite_pages >= p.pages
        or flushed.innodb_buffer_pool_pages_flushed < p.flushed_per_second
    ):
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message(
                    "The doublewrite files are synced every {pages} pages",
                    {"pages": Quantity(doublewrite.innodb_doublewrite_pages, Unit.COUNT)},
                ),
                evidence=figures,
                proposal=(SetVariable("innodb_doublewrite_pages", int(p.proposed_pages)),),
                expected=Message("Flushing waits for fewer syncs."),
                price=(Price(PriceKind.RESTART, Message("some MiB more of doublewrite files, made at the start")),),
                would_change_our_mind=Message("Pages flushed per second that do not change with it."),
            ),
        )
    )


rule.fires(
    "The 4 of MySQL 8.0 on 9.7",
    scene(
        "mysql 9.7.4",
        {"innodb_doublewrite_pages": 4},
        counters={"Innodb_buffer_pool_pages_flushed": 900},
        deliberate=True,
    ),
    proposes={"innodb_doublewrite_pages": 128},
)
rule.passes(
    "The default",
    scene(
        "mysql 9.7.4",
        {"innodb_doublewrite_pages": 128},
        counters={"Innodb_buffer_pool_pages_flushed": 900},
        deliberate=True,
    ),
)
rule.passes(
    "A server that hardly flushes",
    scene(
        "mysql 8.4.3",
        {"innodb_doublewrite_pages": 4},
        counters={"Innodb_buffer_pool_pages_flushed": 3},
        deliberate=True,
    ),
)
