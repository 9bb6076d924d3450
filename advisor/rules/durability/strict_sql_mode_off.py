"""Values that do not fit are stored as something else.

Why it matters
    Without STRICT_TRANS_TABLES or STRICT_ALL_TABLES in sql_mode a text that is too long is cut, a number that is too
    large becomes the largest, a date that does not exist becomes 0000-00-00, and the statement succeeds with a
    warning that nobody reads. What was sent cannot be told from what was stored afterwards.

How it is computed
    From the setting: the global sql_mode has neither STRICT_TRANS_TABLES nor STRICT_ALL_TABLES (TRADITIONAL brings
    both). The default of each version that is judged here is strict, and is never found.

When to dismiss it
    An old application relies on it and cannot be changed; then let that application set it for its own sessions.
"""

from __future__ import annotations

from advisor.engine.facts.durability import SqlMode
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.mysql.proposal import Investigate

#: Either of them makes a value that does not fit an error.
STRICT = frozenset({"STRICT_TRANS_TABLES", "STRICT_ALL_TABLES", "TRADITIONAL"})

rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/sql-mode.html",
        "https://mariadb.com/docs/server/server-management/variables-and-modes/sql_mode",
    ],
)


@rule.check
def check(mode: SqlMode) -> Finding | Passed:
    if mode.modes & STRICT:
        return Passed(mode.measured())
    return Finding(
        (
            Item(
                message=Message("Values that do not fit their column are changed and stored instead of refused"),
                evidence=mode.measured(),
                proposal=(
                    Investigate(
                        "Let the application set a strict sql_mode in its own sessions first and mend what fails; "
                        f"then run SET GLOBAL sql_mode = '{mode.with_mode('STRICT_TRANS_TABLES')}' and put the same "
                        "into the option file."
                    ),
                ),
                expected=Message("What is stored is what was sent, or the statement fails."),
                price=(Price(PriceKind.OVERHEAD, Message("statements that were changed silently fail from then on")),),
                would_change_our_mind=Message("An application that relies on it."),
            ),
        )
    )


rule.fires("No mode at all", scene("mysql 8.0.33", {"sql_mode": ""}))
rule.fires("The mode of a time before strictness", scene("mariadb 10.11.18", {"sql_mode": "NO_ENGINE_SUBSTITUTION"}))
rule.passes("The default", scene("mysql 8.0.33"))
rule.passes("The default of MariaDB", scene("mariadb 10.11.18"))
rule.passes("Strict for all engines", scene("mysql 5.7.22", {"sql_mode": "STRICT_ALL_TABLES"}))
