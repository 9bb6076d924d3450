"""A large key buffer for MyISAM indexes is hardly used.

Why it matters
    The key buffer holds index blocks of MyISAM tables and of nothing else. Where those tables are few or gone, a
    buffer of many hundred MiB is set aside for nothing, often copied from an option file of the time when MyISAM
    was the default.

How it is computed
    After a day of uptime: key_buffer_size is 256 MiB or more, no more than a tenth of it was ever used at once (the
    high-water mark Key_blocks_used), and less than ten index blocks a second are asked for. The proposal is four
    times what was ever used, at least 32 MiB: never 0, since system and temporary tables may be MyISAM, too.

When to dismiss it
    A nightly load of MyISAM tables is still to come, or the server restarts each day.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from advisor.engine.declared import Rates, Status
from advisor.engine.facts.memory import KeyBuffer
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity, unused
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import DAY, GIB, MIB, Quantity, Unit, round_up
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class KeyBlocks(Status):
    """How many blocks of the key buffer were ever in use at once."""

    key_blocks_used: int


@dataclass(frozen=True)
class KeyRequests(Rates):
    """Index blocks that were asked for, per second, on a server that is up for a day."""

    uptime_seconds: ClassVar[int] = DAY

    key_read_requests: float
    key_write_requests: float


@dataclass(frozen=True)
class Parameters(Thresholds):
    """When a key buffer is too big."""

    smallest_bytes: float = threshold(256 * MIB, unit=Unit.BYTES, meaning="key buffer from which on it is looked at")
    used_ratio: float = threshold(
        0.1, unit=Unit.RATIO, meaning="share of it that was ever used, up to which it is too big", leave_at=0.12
    )
    requests_per_second: float = threshold(
        10, unit=Unit.PER_SECOND, meaning="index blocks asked for, from which on MyISAM is in use", leave_at=13
    )


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/server-system-variables.html",
        "https://mariadb.com/docs/server/server-management/variables-and-modes/server-system-variables",
    ],
)


@rule.check
def check(buffer: KeyBuffer, blocks: KeyBlocks, requests: KeyRequests, p: Parameters) -> Finding | Passed:
    figures = buffer.measured() + unused(blocks.measured() + requests.measured())
    size = buffer.key_buffer_size
    used = blocks.key_blocks_used * buffer.key_cache_block_size
    asked = requests.key_read_requests + requests.key_write_requests
    if size < p.smallest_bytes or used > p.used_ratio * size or asked >= p.requests_per_second:
        return Passed(figures)
    wanted = max(round_up(4 * used, MIB), 32 * MIB)
    return Finding(
        (
            Item(
                message=Message(
                    "The key buffer of {size} never held more than {used}",
                    {"size": Quantity(size, Unit.BYTES), "used": Quantity(used, Unit.BYTES)},
                ),
                evidence=figures,
                proposal=(SetVariable("key_buffer_size", wanted),),
                expected=Message("{less} of memory for others", {"less": Quantity(size - wanted, Unit.BYTES)}),
                price=(
                    Price(
                        PriceKind.READ_LATENCY,
                        Message("what the buffer holds is thrown away when it is resized"),
                        Quantity(size, Unit.BYTES),
                        Quantity(wanted, Unit.BYTES),
                    ),
                ),
                would_change_our_mind=Message("MyISAM tables that are loaded or repaired at other times."),
            ),
        )
    )


_IDLE = {"Key_read_requests": 0.1, "Key_write_requests": 0}
_BUSY = {"Key_read_requests": 4000, "Key_write_requests": 30}
rule.fires(
    "4 GiB for some system tables",
    scene(
        "mysql 5.7.22",
        {"key_buffer_size": 4 * GIB, "key_cache_block_size": 1024},
        gauges={"Key_blocks_used": 300},
        counters=_IDLE,
        deliberate=True,
    ),
    proposes={"key_buffer_size": 32 * MIB},
)
rule.fires(
    "MariaDB, 1 GiB of which 20 MiB were used",
    scene(
        "mariadb 10.11.18",
        {"key_buffer_size": GIB, "key_cache_block_size": 1024},
        gauges={"Key_blocks_used": 20_480},
        counters=_IDLE,
        deliberate=True,
    ),
    proposes={"key_buffer_size": 80 * MIB},
)
rule.passes(
    "MyISAM tables are in use",
    scene(
        "mysql 5.7.22",
        {"key_buffer_size": 4 * GIB, "key_cache_block_size": 1024},
        gauges={"Key_blocks_used": 3_000_000},
        counters=_BUSY,
        deliberate=True,
    ),
)
rule.passes(
    "MariaDB's default of 128 MiB",
    scene(
        "mariadb 10.11.18",
        {"key_buffer_size": 128 * MIB, "key_cache_block_size": 1024},
        gauges={"Key_blocks_used": 0},
        counters=_IDLE,
        deliberate=True,
    ),
)
