"""The optimizer tries every order of joins.

Why it matters
    optimizer_prune_level = 0 makes the optimizer look at every order in which tables can be joined: ten tables have 3.6
    million. A statement with a dozen of them may be planned for minutes, with a core fully used, and run for a
    millisecond. It was meant for finding out whether pruning missed a plan.

How it is computed
    From the setting alone: optimizer_prune_level is 0 globally. 1 prunes as every version can; MariaDB 10.10 and later
    prune more with their own default, 2.

When to dismiss it
    No statement joins more than a few tables, and a plan is known that pruning misses; a session can set it then.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class Pruning(Settings):
    """How much of the joins' orders the optimizer leaves out, and how deep it searches."""

    optimizer_prune_level: int
    optimizer_search_depth: int = 62


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    raises=["optimizer_prune_level"],
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/controlling-query-plan-evaluation.html",
        "https://mariadb.com/docs/server/server-management/variables-and-modes/server-system-variables",
    ],
)


@rule.check
def check(pruning: Pruning) -> Finding | Passed:
    if pruning.optimizer_prune_level > 0:
        return Passed(pruning.measured())
    return Finding(
        (
            Item(
                message=Message("The optimizer tries every order of joins (optimizer_prune_level = 0)"),
                evidence=pruning.measured(),
                proposal=(SetVariable("optimizer_prune_level", 1),),
                expected=Message("Statements with many tables are planned in milliseconds."),
                price=(
                    Price(PriceKind.READ_LATENCY, Message("a better plan for a join of many tables may be missed")),
                ),
                would_change_our_mind=Message("A plan that is known to be found with 0 only."),
            ),
        )
    )


rule.fires("Set on MySQL", scene("mysql 8.0.33", {"optimizer_prune_level": 0}), proposes={"optimizer_prune_level": 1})
rule.fires(
    "Set on MariaDB", scene("mariadb 10.5.23", {"optimizer_prune_level": 0}), proposes={"optimizer_prune_level": 1}
)
rule.passes("The default", scene("mysql 8.0.33"))
rule.passes("MariaDB's own", scene("mariadb 10.11.18"))
