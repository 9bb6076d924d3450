"""CREATE TABLE may give another storage engine than it was told.

Why it matters
    Without NO_ENGINE_SUBSTITUTION in sql_mode a table for an engine that is not there (a plugin that was not loaded,
    a name that is misspelled) is created in the default engine, with a warning. A restore then looks complete, and
    what the engine was chosen for (transactions, compression, remote rows) is not there.

How it is computed
    From the setting: the global sql_mode has no NO_ENGINE_SUBSTITUTION. The default of each version has it.

When to dismiss it
    Dumps from servers with other engines are loaded here on purpose.
"""

from __future__ import annotations

from advisor.engine.facts.durability import SqlMode
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.mysql.proposal import Investigate

rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/sql-mode.html",
        "https://mariadb.com/docs/server/server-management/variables-and-modes/sql_mode",
    ],
)


@rule.check
def check(mode: SqlMode) -> Finding | Passed:
    if mode.modes & {"NO_ENGINE_SUBSTITUTION", "TRADITIONAL"}:
        return Passed(mode.measured())
    return Finding(
        (
            Item(
                message=Message("A table for an engine that is not there is created in another one"),
                evidence=mode.measured(),
                proposal=(
                    Investigate(
                        f"Run SET GLOBAL sql_mode = '{mode.with_mode('NO_ENGINE_SUBSTITUTION')}' and put the same "
                        "into the option file, when no import relies on the substitution."
                    ),
                ),
                expected=Message("CREATE TABLE for a missing engine fails and says so."),
                price=(Price(PriceKind.OVERHEAD, Message("imports that name missing engines fail from then on")),),
                would_change_our_mind=Message("Imports that rely on it."),
            ),
        )
    )


rule.fires("No mode at all", scene("mysql 8.0.33", {"sql_mode": ""}))
rule.fires("Strict, but for engines", scene("mariadb 10.11.18", {"sql_mode": "STRICT_TRANS_TABLES"}))
rule.passes("The default", scene("mysql 8.0.33"))
rule.passes("The default of MariaDB", scene("mariadb 10.11.18"))
