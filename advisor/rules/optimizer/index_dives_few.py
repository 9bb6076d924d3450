"""The optimizer guesses at the rows of a list instead of looking.

Why it matters
    For IN lists longer than eq_range_index_dive_limit the optimizer takes the index's average number of rows for each
    value instead of looking into the index. With uneven values (one customer with a million rows) it then chooses a
    scan where the index is right, or the other way round. MySQL 5.6 looked for 9 values at the most; option files from
    then still say so.

How it is computed
    eq_range_index_dive_limit is set, and below 200, the default of MySQL 5.7 and MariaDB 10.4.3 and newer.

When to dismiss it
    Tables with very many partitions, where each look is paid in each partition: then few looks are a choice.
"""

from __future__ import annotations

from advisor.engine.facts.optimizer import IndexDives
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import SetVariable

rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.4.3"],
    since="0.2",
    raises=["eq_range_index_dive_limit"],
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/range-optimization.html",
        "https://mariadb.com/docs/server/server-management/variables-and-modes/server-system-variables",
    ],
)


@rule.check
def check(planning: IndexDives) -> Finding | Passed:
    if not (0 < planning.eq_range_index_dive_limit < 200):
        return Passed(planning.measured())
    return Finding(
        (
            Item(
                message=Message(
                    "Lists of {limit} values and more are planned by averages",
                    {"limit": Quantity(planning.eq_range_index_dive_limit, Unit.COUNT)},
                ),
                evidence=planning.measured(),
                proposal=(SetVariable("eq_range_index_dive_limit", 200),),
                expected=Message("Plans for lists follow the values that they hold."),
                price=(
                    Price(
                        PriceKind.OVERHEAD,
                        Message("two looks into the index for each value while a statement is planned"),
                    ),
                ),
                would_change_our_mind=Message("Tables with very many partitions."),
            ),
        )
    )


rule.fires(
    "Ten, as in 5.6",
    scene("mysql 8.0.33", {"eq_range_index_dive_limit": 10}),
    proposes={"eq_range_index_dive_limit": 200},
)
rule.fires(
    "Ten on MariaDB",
    scene("mariadb 10.11.18", {"eq_range_index_dive_limit": 10}),
    proposes={"eq_range_index_dive_limit": 200},
)
rule.passes("The default", scene("mysql 8.0.33"))
rule.passes("More than the default", scene("mariadb 10.11.18", {"eq_range_index_dive_limit": 300}))
