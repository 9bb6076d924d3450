"""Buffers that every statement may take are very large for all sessions.

Why it matters
    sort_buffer_size, join_buffer_size, read_buffer_size and read_rnd_buffer_size are taken by each statement that
    needs them, some of them whole and once for each join. As global values of dozens of MiB they make memory use
    jump with the number of busy sessions, and large allocations are slower than small ones: statements that sort
    ten rows pay, too.

How it is computed
    A global value is above 8 MiB (read_buffer_size: above 2 MiB). The proposal is 4 MiB (read_buffer_size: 1 MiB),
    many times the default. A statement that really needs more gets it in its own session: SET SESSION
    sort_buffer_size.

When to dismiss it
    It was measured that most statements gain from it, and memory is there for as many as run at once.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import KIB, MIB, Quantity, Unit
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class StatementBuffers(Settings):
    """Buffers that one statement takes, in bytes, by their global values."""

    sort_buffer_size: int
    join_buffer_size: int
    read_buffer_size: int
    read_rnd_buffer_size: int


@dataclass(frozen=True)
class Parameters(Thresholds):
    """How large such a buffer may be for everybody."""

    largest_bytes: float = threshold(8 * MIB, unit=Unit.BYTES, meaning="sort, join or read_rnd buffer for all sessions")
    largest_read_bytes: float = threshold(2 * MIB, unit=Unit.BYTES, meaning="read buffer for all sessions")


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/memory-use.html",
        "https://mariadb.com/docs/server/ha-and-performance/optimization-and-tuning/system-variables/server-system-variables",
    ],
)


@rule.check
def check(buffers: StatementBuffers, p: Parameters) -> Finding | Passed:
    limits = {
        "sort_buffer_size": p.largest_bytes,
        "join_buffer_size": p.largest_bytes,
        "read_buffer_size": p.largest_read_bytes,
        "read_rnd_buffer_size": p.largest_bytes,
    }
    large = {name: limit for name, limit in limits.items() if getattr(buffers, name) > limit}
    if not large:
        return Passed(buffers.measured())
    together = sum(getattr(buffers, name) for name in limits)
    return Finding(
        (
            Item(
                message=Message(
                    "One statement may take {together} in sort, join and read buffers: {names}",
                    {
                        "together": Quantity(together, Unit.BYTES),
                        "names": Quantity(", ".join(large), Unit.TEXT),
                    },
                ),
                evidence=buffers.measured(),
                proposal=tuple(SetVariable(name, int(limit / 2)) for name, limit in large.items()),
                expected=Message("Memory no longer jumps with the number of busy sessions."),
                price=(
                    Price(
                        PriceKind.READ_LATENCY,
                        Message("a statement that sorts or joins more uses files, unless its session asks for more"),
                    ),
                ),
                would_change_our_mind=Message("A measurement in which most statements gained from these sizes."),
            ),
        )
    )


rule.fires(
    "A sort buffer of 64 MiB for everybody",
    scene("mysql 8.0.33", {"sort_buffer_size": 64 * MIB}),
    proposes={"sort_buffer_size": 4 * MIB},
)
rule.fires(
    "MariaDB with large join and read buffers",
    scene("mariadb 10.11.18", {"join_buffer_size": 128 * MIB, "read_buffer_size": 16 * MIB}),
    proposes={"join_buffer_size": 4 * MIB, "read_buffer_size": MIB},
)
rule.passes("The defaults", scene("mysql 8.0.33"))
rule.passes(
    "8 MiB is allowed",
    scene("mariadb 10.11.18", {"sort_buffer_size": 8 * MIB, "join_buffer_size": MIB, "read_buffer_size": 256 * KIB}),
)
