"""A transaction was left open.

Why it matters
    As long as it is open, InnoDB keeps every older version of every row that anybody changes, for all tables: the
    undo log grows, and reads get slower. What it has locked stays locked, and a change of those tables waits, with
    everybody behind it. Mostly an application forgot to commit, or a person went for lunch with an open client.

How it is computed
    On inspection the oldest transaction is open for ten minutes or more; or a session has been idle for five
    seconds or more with row locks in hand while others wait for row locks.

When to dismiss it
    A dump or a report that needs one view of all data.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.facts.locks import OpenTransactions
from advisor.engine.outcome import Finding, Item, Message, Passed, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import inspected, scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import Investigate


@dataclass(frozen=True)
class Parameters(Thresholds):
    """How long is too long."""

    age_seconds: float = threshold(600, unit=Unit.SECONDS, meaning="age of the oldest transaction", leave_at=500)
    idle_seconds: float = threshold(
        5, unit=Unit.SECONDS, meaning="time that a session with row locks is idle while others wait", leave_at=4
    )


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-information-schema-innodb_trx-table.html",
        "https://mariadb.com/docs/server/reference/system-tables/information-schema/information-schema-tables/information-schema-innodb-tables/information-schema-innodb_trx-table",
    ],
)


@rule.check
def check(open_ones: OpenTransactions, p: Parameters) -> Finding | Passed:
    figures = open_ones.measured()
    if open_ones.oldest_seconds < p.age_seconds and (
        open_ones.idle_holder_seconds < p.idle_seconds or not open_ones.waiting
    ):
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message(
                    "A transaction is open for {age}; a session with row locks is idle for {idle}",
                    {
                        "age": Quantity(open_ones.oldest_seconds, Unit.SECONDS),
                        "idle": Quantity(open_ones.idle_holder_seconds, Unit.SECONDS),
                    },
                ),
                evidence=figures,
                proposal=(
                    Investigate(
                        "Find whose it is (INNODB_TRX and the processlist), and let the application commit before "
                        "it waits for anything else. KILL ends it and rolls it back."
                    ),
                ),
                would_change_our_mind=Message("A dump or a report that needs one view of all data."),
            ),
        )
    )


_FORGOTTEN = [
    {"age_seconds": "5400", "state": "RUNNING", "rows_modified": "3", "rows_locked": "4", "idle_seconds": "5300"}
]
_HOLDING = [{"age_seconds": "30", "state": "RUNNING", "rows_modified": "1", "rows_locked": "1", "idle_seconds": "28"}]
rule.fires(
    "Forgotten for an hour and a half",
    scene("mysql 8.0.33", inspection=inspected(transactions=_FORGOTTEN)),
)
rule.fires(
    "MariaDB: idle with a lock that two others wait for",
    scene("mariadb 10.11.18", gauges={"Innodb_row_lock_current_waits": 2}, inspection=inspected(transactions=_HOLDING)),
)
rule.passes("Nobody waits for it", scene("mysql 8.0.33", inspection=inspected(transactions=_HOLDING)))
rule.passes("None is open", scene("mariadb 10.11.18", inspection=inspected(transactions=[])))
