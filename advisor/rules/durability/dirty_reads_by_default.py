"""New connections read what was never committed.

Why it matters
    With READ-UNCOMMITTED as the global level every query may see rows of transactions that are rolled back a moment
    later. Sums do not add up, and a decision that rests on such a row cannot be explained afterwards. It saves
    nothing worth having: readers do not wait for writers at the other levels either.

How it is computed
    From the setting: the global transaction isolation level is READ-UNCOMMITTED.

When to dismiss it
    Only monitoring or statistics connect here, for which a wrong figure now and then does not matter.
"""

from __future__ import annotations

from advisor.engine.facts.durability import Isolation
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.mysql.proposal import Investigate

rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-transaction-isolation-levels.html",
        "https://mariadb.com/docs/server/reference/sql-statements/transactions/set-transaction",
    ],
)


@rule.check
def check(level: Isolation) -> Finding | Passed:
    if level.transaction_isolation.upper() != "READ-UNCOMMITTED":
        return Passed(level.measured())
    return Finding(
        (
            Item(
                message=Message("New connections see rows that are not committed and may never be"),
                evidence=level.measured(),
                proposal=(
                    Investigate(
                        "Run SET GLOBAL TRANSACTION ISOLATION LEVEL READ COMMITTED (or REPEATABLE READ, the default), "
                        "change transaction_isolation in the option file, and let the one job that wants dirty reads "
                        "set them for its session. READ COMMITTED needs a binary log in row or mixed format."
                    ),
                ),
                expected=Message("Queries see committed rows only."),
                price=(
                    Price(PriceKind.OVERHEAD, Message("readers look up older versions of rows that are being changed")),
                ),
                would_change_our_mind=Message("Connections that only gather statistics."),
            ),
        )
    )


rule.fires("The lowest level for all", scene("mysql 8.0.33", {"transaction_isolation": "READ-UNCOMMITTED"}))
rule.fires("MariaDB, under its older name", scene("mariadb 10.5.23", {"tx_isolation": "READ-UNCOMMITTED"}))
rule.passes("The default", scene("mysql 8.0.33"))
rule.passes("The default of MariaDB", scene("mariadb 10.5.23"))
rule.passes("READ COMMITTED", scene("mysql 5.7.22", {"transaction_isolation": "READ-COMMITTED"}))
