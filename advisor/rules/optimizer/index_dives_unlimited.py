"""The optimizer looks up every value of any list while it plans.

Why it matters
    With eq_range_index_dive_limit = 0 a list of 50,000 values costs 100,000 looks into the index before the statement
    begins, in each partition again. The plan takes longer than the statement, and long lists of generated SQL do it to
    everybody.

How it is computed
    eq_range_index_dive_limit is 0. MariaDB 10.4.3 and newer, and MySQL 5.7 and newer, have 200 by default.

When to dismiss it
    Lists are short, and their values so uneven that each has to be looked up.
"""

from __future__ import annotations

from advisor.engine.facts.optimizer import IndexDives
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
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
    if not (planning.eq_range_index_dive_limit == 0):
        return Passed(planning.measured())
    return Finding(
        (
            Item(
                message=Message("Every value of any list is looked up while a statement is planned"),
                evidence=planning.measured(),
                proposal=(SetVariable("eq_range_index_dive_limit", 200),),
                expected=Message("Long lists are planned in a moment."),
                price=(Price(PriceKind.READ_LATENCY, Message("lists of 200 values and more are planned by averages")),),
                would_change_our_mind=Message("Short lists with very uneven values."),
            ),
        )
    )


rule.fires(
    "No limit", scene("mysql 8.0.33", {"eq_range_index_dive_limit": 0}), proposes={"eq_range_index_dive_limit": 200}
)
rule.fires(
    "No limit on MariaDB",
    scene("mariadb 10.11.18", {"eq_range_index_dive_limit": 0}),
    proposes={"eq_range_index_dive_limit": 200},
)
rule.passes("The default", scene("mysql 8.0.33"))
rule.passes("The default of MariaDB", scene("mariadb 10.11.18"))
