"""Multi-range reads fill their buffer many times over.

Why it matters
    A multi-range read sorts as many row ids as fit into its buffer, reads those rows, and begins again. With a buffer
    that holds a small part of them the same pages are read once per filling, and the gain is lost.

How it is computed
    Handler_mrr_init rose by 0.1 a second or more, and Handler_mrr_rowid_refills with Handler_mrr_key_refills by ten
    times as much or more. MariaDB alone counts refills. mrr_buffer_size is raised four times, to 8 MiB at the most.

When to dismiss it
    One report does it, which can set mrr_buffer_size for itself.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import HarmRates, Settings
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import KIB, MIB, Quantity, Unit
from advisor.mysql.proposal import Change, Investigate, SetVariable


@dataclass(frozen=True)
class MultiRangeBuffer(Settings):
    """Memory for row ids in each multi-range read, in bytes."""

    mrr_buffer_size: int


@dataclass(frozen=True)
class MultiRangeReads(HarmRates):
    """Multi-range reads that began, and fillings of their buffers after the first, per second."""

    handler_mrr_init: float
    handler_mrr_rowid_refills: float
    handler_mrr_key_refills: float


@dataclass(frozen=True)
class Parameters(Thresholds):
    """When the buffer is too small."""

    reads_per_second: float = threshold(0.1, unit=Unit.PER_SECOND, meaning="multi-range reads", leave_at=0.08)
    refills_per_read: float = threshold(10, unit=Unit.COUNT, meaning="fillings for each of them", leave_at=8)
    largest_bytes: float = threshold(8 * MIB, unit=Unit.BYTES, meaning="no larger buffer is proposed")


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    caused_by=[MultiRangeReads],
    raises=["mrr_buffer_size"],
    references=[
        "https://mariadb.com/docs/server/ha-and-performance/optimization-and-tuning/mariadb-internal-optimizations/multi-range-read-optimization",
    ],
)


@rule.check
def check(buffer: MultiRangeBuffer, reads: MultiRangeReads, p: Parameters) -> Finding | Passed:
    figures = buffer.measured() + reads.measured()
    refills = reads.handler_mrr_rowid_refills + reads.handler_mrr_key_refills
    if reads.handler_mrr_init < p.reads_per_second or refills < p.refills_per_read * reads.handler_mrr_init:
        return Passed(figures)
    present = buffer.mrr_buffer_size
    wanted = min(4 * present, int(p.largest_bytes))
    proposal: tuple[Change, ...] = (SetVariable("mrr_buffer_size", wanted),)
    if wanted <= present:
        proposal = (Investigate("Find the statements that read so many scattered rows, and what could narrow them."),)
    return Finding(
        (
            Item(
                message=Message(
                    "Multi-range reads fill their buffer of {size} {times} times each",
                    {
                        "size": Quantity(present, Unit.BYTES),
                        "times": Quantity(refills / reads.handler_mrr_init, Unit.COUNT),
                    },
                ),
                evidence=figures,
                proposal=proposal,
                expected=Message("Each page is read once or twice for a statement."),
                price=(
                    Price(
                        PriceKind.MEMORY,
                        Message("in each session, while it does such a read"),
                        Quantity(present, Unit.BYTES),
                        Quantity(wanted, Unit.BYTES),
                    ),
                ),
                would_change_our_mind=Message("One report alone that does it."),
            ),
        )
    )


def _rates(refills: float) -> dict[str, float]:
    return {"Handler_mrr_init": 2, "Handler_mrr_rowid_refills": refills, "Handler_mrr_key_refills": 0}


rule.fires(
    "Forty fillings each",
    scene("mariadb 10.11.18", counters=_rates(80), deliberate=True),
    proposes={"mrr_buffer_size": MIB},
)
rule.fires(
    "A buffer that is large already: the statements are the matter",
    scene("mariadb 11.8.6", {"mrr_buffer_size": 8 * MIB}, counters=_rates(60), deliberate=True),
)
rule.passes("Two fillings each", scene("mariadb 10.11.18", counters=_rates(4), deliberate=True))
rule.passes(
    "No filling after the first",
    scene("mariadb 11.8.6", {"mrr_buffer_size": 256 * KIB}, counters=_rates(0), deliberate=True),
)
