"""Long lists are planned as scans for want of memory.

Why it matters
    A statement whose list needs more memory to plan than range_optimizer_max_mem_size gets no range access at all: it
    reads the whole table, with nothing but a warning (3170) that nobody sees. A value takes about 230 bytes: 8 MiB are
    enough for some 35,000 of them, the first default (1.5 MB) for 6,500.

How it is computed
    range_optimizer_max_mem_size is below 8 MiB, the default since 5.7.12, and not 0, which sets no limit.

When to dismiss it
    Lists are short, and memory for planning is kept small on purpose.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class RangeMemory(Settings):
    """Memory for planning ranges in one statement, in bytes; 0 for no limit."""

    range_optimizer_max_mem_size: int


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7"],
    since="0.2",
    raises=["range_optimizer_max_mem_size"],
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/range-optimization.html",
    ],
)


@rule.check
def check(planning: RangeMemory) -> Finding | Passed:
    if not (0 < planning.range_optimizer_max_mem_size < 8_388_608):
        return Passed(planning.measured())
    return Finding(
        (
            Item(
                message=Message(
                    "A statement may use {size} to plan its ranges, and reads the whole table where that is not enough",
                    {"size": Quantity(planning.range_optimizer_max_mem_size, Unit.BYTES)},
                ),
                evidence=planning.measured(),
                proposal=(SetVariable("range_optimizer_max_mem_size", 8388608),),
                expected=Message("Lists of some 30,000 values still use their index."),
                price=(Price(PriceKind.MEMORY, Message("up to 8 MiB in a session while it plans such a statement")),),
                would_change_our_mind=Message("Lists that are always short."),
            ),
        )
    )


rule.fires(
    "The first default of 5.7",
    scene("mysql 5.7.22", {"range_optimizer_max_mem_size": 1536000}),
    proposes={"range_optimizer_max_mem_size": 8388608},
)
rule.fires(
    "One megabyte",
    scene("mysql 8.0.33", {"range_optimizer_max_mem_size": 1048576}),
    proposes={"range_optimizer_max_mem_size": 8388608},
)
rule.passes("The default", scene("mysql 5.7.22"))
rule.passes("No limit", scene("mysql 8.0.33", {"range_optimizer_max_mem_size": 0}))
