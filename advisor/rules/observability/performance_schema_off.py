"""performance_schema was switched off.

Why it matters
    Without performance_schema nobody can say which statements take the time, which tables are read, what sessions wait
    for, or what memory is used for; and part of this advice cannot be given. On MySQL it is on by default, so that
    somebody switched it off, most often on the word of a benchmark of long ago: with its defaults it costs about 3 % of
    the transactions (measured on 5.7).

How it is computed
    From the setting alone, on MySQL only: performance_schema is OFF. MariaDB has it off by default, which is not held
    against anybody.

When to dismiss it
    The machine has less memory than 1 GiB, or these 3 % are needed.
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
class Switch(Settings):
    """Whether performance_schema was started."""

    performance_schema: bool


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7"],
    since="0.2",
    references=["https://dev.mysql.com/doc/refman/8.4/en/performance-schema-startup-configuration.html"],
)


@rule.check
def check(switch: Switch) -> Finding | Passed:
    if switch.performance_schema:
        return Passed(switch.measured())
    return Finding(
        (
            Item(
                message=Message("performance_schema is off: nobody can say which statements take the time"),
                evidence=switch.measured(),
                proposal=(SetVariable("performance_schema", True),),
                expected=Message("Statements, tables, waits and memory can be seen."),
                price=(
                    Price(PriceKind.RESTART, Message("it is started with the server")),
                    Price(PriceKind.MEMORY, Message("150 to 255 MB at 300 connections (measured on 5.7 to 9.7)")),
                    Price(PriceKind.OVERHEAD, Message("about {share}", {"share": Quantity(0.03, Unit.RATIO)})),
                ),
                would_change_our_mind=Message("A machine without memory to spare."),
            ),
        )
    )


rule.fires(
    "Switched off on MySQL 8.0",
    scene("mysql 8.0.33", {"performance_schema": "OFF"}),
    proposes={"performance_schema": True},
)
rule.fires(
    "Switched off on MySQL 5.7",
    scene("mysql 5.7.22", {"performance_schema": "OFF"}),
    proposes={"performance_schema": True},
)
rule.passes("As installed", scene("mysql 8.0.33"))
rule.passes("As installed, 9.7", scene("mysql 9.7.4"))
