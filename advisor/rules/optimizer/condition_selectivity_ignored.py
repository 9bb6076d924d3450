"""The optimizer takes no notice of what conditions without an index let through.

Why it matters
    With optimizer_use_condition_selectivity below 4 MariaDB joins tables in an order that counts conditions on indexed
    columns only (1: hardly any), so that a table that a condition cuts to ten rows may come last. The value 1 was the
    default until 10.4.

How it is computed
    optimizer_use_condition_selectivity is below 4, the default from 10.4.1 on.

When to dismiss it
    A statement became slower with 4 and was measured: then set it for that session.
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
class Selectivity(Settings):
    """From 1 to 5, how much of a condition is weighed."""

    optimizer_use_condition_selectivity: int


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mariadb>=10.4.1"],
    since="0.2",
    raises=["optimizer_use_condition_selectivity"],
    references=[
        "https://mariadb.com/docs/server/server-management/variables-and-modes/server-system-variables",
    ],
)


@rule.check
def check(planning: Selectivity) -> Finding | Passed:
    if not (planning.optimizer_use_condition_selectivity < 4):
        return Passed(planning.measured())
    return Finding(
        (
            Item(
                message=Message(
                    "Joins are ordered with optimizer_use_condition_selectivity = {value}",
                    {"value": Quantity(planning.optimizer_use_condition_selectivity, Unit.COUNT)},
                ),
                evidence=planning.measured(),
                proposal=(SetVariable("optimizer_use_condition_selectivity", 4),),
                expected=Message("Joins begin with the table that a condition makes small."),
                price=(Price(PriceKind.READ_LATENCY, Message("plans change: look at the important ones first")),),
                would_change_our_mind=Message("A measurement of the statements that matter."),
            ),
        )
    )


rule.fires(
    "Carried over from 10.3",
    scene("mariadb 10.11.18", {"optimizer_use_condition_selectivity": 1}),
    proposes={"optimizer_use_condition_selectivity": 4},
)
rule.fires(
    "The same on 11.8",
    scene("mariadb 11.8.6", {"optimizer_use_condition_selectivity": 3}),
    proposes={"optimizer_use_condition_selectivity": 4},
)
rule.passes("The default", scene("mariadb 10.11.18"))
rule.passes("The default of 11.8", scene("mariadb 11.8.6"))
