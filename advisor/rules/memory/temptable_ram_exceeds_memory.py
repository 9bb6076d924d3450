"""Temporary tables may take a large part of the memory there is.

Why it matters
    temptable_max_ram is how much memory all temporary tables of all sessions may take together before they go to
    disk. The default of 1 GiB was made for machines with dozens of GiB: beside a buffer pool that was sized without
    it, it is what makes a small server swap on the day of the large report.

How it is computed
    temptable_max_ram is more than a quarter of the host's memory (as stated), or it and what the server is expected
    to use are more than that memory together. The proposal is what remains of the memory after 5 % for the system,
    at most an eighth of it and at least 16 MiB.

When to dismiss it
    No statement ever makes large temporary tables here.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.facts.memory import BufferPool, ExpectedUse, HostMemory
from advisor.engine.facts.temporary import SharedMemory
from advisor.engine.outcome import Finding, Item, Measured, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene, stated
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import GIB, MIB, Quantity, Unit
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class Parameters(Thresholds):
    """How much memory temporary tables may take."""

    largest_ratio: float = threshold(0.25, unit=Unit.RATIO, meaning="temptable_max_ram as a share of the host's memory")
    together_ratio: float = threshold(
        1.0,
        unit=Unit.RATIO,
        meaning="temptable_max_ram and the expected use as a share of the host's memory",
        leave_at=0.98,
    )
    wanted_ratio: float = threshold(0.125, unit=Unit.RATIO, meaning="the most that is proposed, as a share of it")


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=8.0"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/internal-temporary-tables.html",
    ],
)


@rule.check
def check(
    temporary: SharedMemory, pool: BufferPool, use: ExpectedUse, memory: HostMemory, p: Parameters
) -> Finding | Passed:
    expected = use.need.expected_bytes(pool.size_bytes)
    figures = (
        *temporary.measured(),
        Measured("memory the server is expected to use", round(expected), Unit.BYTES, None, "the budget"),
        *memory.measured(),
    )
    size = temporary.temptable_max_ram
    room = int(min(0.95 * memory.bytes - expected, p.wanted_ratio * memory.bytes))
    wanted = max(room // MIB * MIB, 16 * MIB)
    fits = size + expected <= p.together_ratio * memory.bytes or expected > 0.95 * memory.bytes
    if (size <= p.largest_ratio * memory.bytes and fits) or wanted >= size:
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message(
                    "Temporary tables may take {size} of the host's {memory}, beside {expected} for all else",
                    {
                        "size": Quantity(size, Unit.BYTES),
                        "memory": Quantity(memory.bytes, Unit.BYTES),
                        "expected": Quantity(expected, Unit.BYTES),
                    },
                ),
                evidence=figures,
                proposal=(SetVariable("temptable_max_ram", wanted),),
                expected=Message("Large temporary tables go to disk before memory runs out."),
                price=(
                    Price(
                        PriceKind.READ_LATENCY,
                        Message("large temporary tables are on disk"),
                        Quantity(size, Unit.BYTES),
                        Quantity(wanted, Unit.BYTES),
                    ),
                ),
                would_change_our_mind=Message("More memory than was stated."),
            ),
        )
    )


rule.fires(
    "The default of 1 GiB on a host with 2 GiB",
    scene("mysql 8.0.33", {"temptable_max_ram": GIB}, host=stated(memory_bytes=2 * GIB)),
    proposes={"temptable_max_ram": 256 * MIB},
)
rule.fires(
    "3 GiB beside a pool that takes most of 16 GiB",
    scene(
        "mysql 9.7.4",
        {"temptable_max_ram": 3 * GIB, "innodb_buffer_pool_size": 12 * GIB},
        host=stated(memory_bytes=16 * GIB),
    ),
    proposes={"temptable_max_ram": 1784 * MIB},
)
rule.passes(
    "The default on a host with 16 GiB",
    scene("mysql 8.0.33", {"temptable_max_ram": GIB}, host=stated(memory_bytes=16 * GIB)),
)
rule.passes(
    "A small limit on a small host",
    scene("mysql 9.7.4", {"temptable_max_ram": 128 * MIB}, host=stated(memory_bytes=2 * GIB)),
)
