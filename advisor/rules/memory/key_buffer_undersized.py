"""The key buffer is too small for the MyISAM indexes that are read.

Why it matters
    MyISAM caches index blocks in the key buffer only. Where it is too small, look-ups by an index read the same
    blocks from files again and again, and with MyISAM's table locks everybody behind that statement waits as well.

How it is computed
    From rates: at least 50 index blocks a second are read from files, they are more than 1 % of those asked for,
    and the buffer has been full (Key_blocks_unused is less than a tenth of it). The proposal doubles it, up to a
    quarter of the host's memory where that is known, else up to 1 GiB.

When to dismiss it
    The reads come from one scan or one repair, or the tables are about to be moved to InnoDB, which is better.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import HarmRates, Status
from advisor.engine.facts.memory import KeyBuffer, MemoryCeiling
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene, stated
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import GIB, MIB, Quantity, Unit
from advisor.mysql.proposal import Change, Investigate, SetVariable


@dataclass(frozen=True)
class UnusedKeyBlocks(Status):
    """How many blocks of the key buffer hold nothing."""

    key_blocks_unused: int


@dataclass(frozen=True)
class KeyReads(HarmRates):
    """Index blocks read from files, and asked for, per second."""

    key_reads: float
    key_read_requests: float


@dataclass(frozen=True)
class Parameters(Thresholds):
    """When a key buffer is too small."""

    reads_per_second: float = threshold(50, unit=Unit.PER_SECOND, meaning="index blocks read from files", leave_at=40)
    missed_ratio: float = threshold(
        0.01, unit=Unit.RATIO, meaning="share of the blocks asked for that were read from files", leave_at=0.008
    )
    unused_ratio: float = threshold(
        0.1, unit=Unit.RATIO, meaning="share of the buffer that is empty, up to which it is full", leave_at=0.15
    )
    memory_ratio: float = threshold(0.25, unit=Unit.RATIO, meaning="share of the host's memory that it may take")
    largest_bytes: float = threshold(GIB, unit=Unit.BYTES, meaning="the largest where memory is not known")


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    caused_by=[KeyReads],
    raises=["key_buffer_size"],
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/server-system-variables.html",
        "https://mariadb.com/docs/server/server-management/variables-and-modes/server-system-variables",
    ],
)


@rule.check
def check(
    buffer: KeyBuffer, blocks: UnusedKeyBlocks, reads: KeyReads, memory: MemoryCeiling, p: Parameters
) -> Finding | Passed:
    figures = buffer.measured() + blocks.measured() + reads.measured()
    size = buffer.key_buffer_size
    full = blocks.key_blocks_unused * buffer.key_cache_block_size <= p.unused_ratio * size
    missed = reads.key_reads > p.missed_ratio * reads.key_read_requests
    if reads.key_reads < p.reads_per_second or not missed or not full:
        return Passed(figures)
    highest = memory.share(p.memory_ratio, otherwise=int(p.largest_bytes)) // MIB * MIB
    wanted = min(max(2 * size, 8 * MIB), highest) // 4096 * 4096
    proposal: tuple[Change, ...] = (SetVariable("key_buffer_size", wanted),)
    price: tuple[Price, ...] = (
        Price(
            PriceKind.MEMORY,
            Message("a larger key buffer"),
            Quantity(size, Unit.BYTES),
            Quantity(wanted, Unit.BYTES),
        ),
    )
    if wanted <= size:
        proposal, price = (
            (Investigate("Move the busiest MyISAM tables to InnoDB: the key buffer is large enough."),),
            (),
        )
    return Finding(
        (
            Item(
                message=Message(
                    "The key buffer of {size} reads {reads} index blocks a second from files",
                    {"size": Quantity(size, Unit.BYTES), "reads": Quantity(reads.key_reads, Unit.COUNT)},
                ),
                evidence=figures,
                proposal=proposal,
                expected=Message("Look-ups in MyISAM tables read fewer blocks from files.") if price else None,
                price=price,
                would_change_our_mind=Message("A scan or a repair in the window."),
            ),
        )
    )


_FULL = {"Key_blocks_unused": 100}
_READS = {"Key_reads": 400, "Key_read_requests": 9000}
rule.fires(
    "MyISAM tables with the default of 8 MiB",
    scene(
        "mysql 5.7.22",
        {"key_buffer_size": 8 * MIB, "key_cache_block_size": 1024},
        gauges=_FULL,
        counters=_READS,
        deliberate=True,
    ),
    proposes={"key_buffer_size": 16 * MIB},
)
rule.fires(
    "MariaDB on a host of 8 GiB",
    scene(
        "mariadb 10.11.18",
        {"key_buffer_size": GIB + 512 * MIB, "key_cache_block_size": 1024},
        gauges=_FULL,
        counters=_READS,
        deliberate=True,
        host=stated(memory_bytes=8 * GIB),
    ),
    proposes={"key_buffer_size": 2 * GIB},
)
rule.passes(
    "Hardly a block is read from a file",
    scene(
        "mysql 5.7.22",
        {"key_buffer_size": 8 * MIB, "key_cache_block_size": 1024},
        gauges=_FULL,
        counters={"Key_reads": 2, "Key_read_requests": 9000},
        deliberate=True,
    ),
)
rule.passes(
    "MariaDB's buffer that is still filling",
    scene(
        "mariadb 10.11.18",
        {"key_buffer_size": 128 * MIB, "key_cache_block_size": 1024},
        gauges={"Key_blocks_unused": 90_000},
        counters=_READS,
        deliberate=True,
    ),
)
