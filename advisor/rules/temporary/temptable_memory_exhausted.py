"""The memory that all temporary tables share was used up.

Why it matters
    MySQL 8+ keeps internal temporary tables in the TempTable engine, which takes temptable_max_ram at most for all
    sessions together. Once it is used up every further table goes to disk, however small it is: one large report slows
    every other statement that groups or sorts.

How it is computed
    TempTable_count_hit_max_ram (MySQL 9.x tells it) rose between full snapshots, by 0.05 a second or more. The shared
    memory is doubled, to 4 GiB at most; beyond that the statements that fill it are to be found.

When to dismiss it
    The machine has no memory to spare, and the disk tables do not disturb anybody.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import HarmRates
from advisor.engine.facts.memory import MemoryCeiling
from advisor.engine.facts.temporary import SharedMemory
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import GIB, MIB, Quantity, Unit, round_up
from advisor.mysql.proposal import Change, Investigate, SetVariable


@dataclass(frozen=True)
class Exhausted(HarmRates):
    """Tables per second that found the shared memory used up."""

    temptable_count_hit_max_ram: float


@dataclass(frozen=True)
class Parameters(Thresholds):
    """When it is used up too often."""

    hits_per_second: float = threshold(
        0.05, unit=Unit.PER_SECOND, meaning="temporary tables that found no shared memory", leave_at=0.01
    )
    largest_bytes: float = threshold(4 * GIB, unit=Unit.BYTES, meaning="no more shared memory is proposed")


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=8.0"],
    since="0.2",
    parameters=Parameters(),
    caused_by=[Exhausted],
    raises=["temptable_max_ram"],
    references=["https://dev.mysql.com/doc/refman/9.4/en/internal-temporary-tables.html"],
)


@rule.check
def check(memory: SharedMemory, hits: Exhausted, host: MemoryCeiling, p: Parameters) -> Finding | Passed:
    figures = memory.measured() + hits.measured()
    if hits.temptable_count_hit_max_ram < p.hits_per_second:
        return Passed(figures)
    present = memory.temptable_max_ram
    # No more than memory.temptable-ram-exceeds-memory leaves of a host whose memory is known.
    wanted = round_up(min(2 * present, p.largest_bytes, host.share(0.125, otherwise=int(p.largest_bytes))), MIB)
    proposal: tuple[Change, ...] = (SetVariable("temptable_max_ram", wanted),)
    price: tuple[Price, ...] = (
        Price(
            PriceKind.MEMORY,
            Message("for all temporary tables together, at most"),
            Quantity(present, Unit.BYTES),
            Quantity(wanted, Unit.BYTES),
        ),
    )
    if wanted <= present:
        proposal, price = (
            (Investigate("Find the statements whose temporary tables fill the shared memory, by their digests."),),
            (),
        )
    return Finding(
        (
            Item(
                message=Message(
                    "Temporary tables used up temptable_max_ram = {size}", {"size": Quantity(present, Unit.BYTES)}
                ),
                evidence=figures,
                proposal=proposal,
                expected=Message("Small temporary tables stay in memory beside a large one."),
                price=price,
                would_change_our_mind=Message("A machine without memory to spare."),
            ),
        )
    )


rule.fires(
    "A gigabyte is used up now and then",
    scene(
        "mysql 9.7.4",
        {"temptable_max_ram": GIB},
        counters={"TempTable_count_hit_max_ram": 2},
        deliberate=True,
    ),
    proposes={"temptable_max_ram": 2 * GIB},
)
rule.fires(
    "Four gigabytes already: the statements",
    scene(
        "mysql 9.7.4",
        {"temptable_max_ram": 4 * GIB},
        counters={"TempTable_count_hit_max_ram": 2},
        deliberate=True,
    ),
)
rule.passes(
    "Never used up",
    scene("mysql 9.7.4", {"temptable_max_ram": GIB}, counters={"TempTable_count_hit_max_ram": 0}, deliberate=True),
)
