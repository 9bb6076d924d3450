"""Transactions deadlock all the time.

Why it matters
    Of two transactions that wait for each other InnoDB rolls one back with error 1213, and the application has to do it
    again. A few an hour are normal; one each ten seconds means that two pieces of code change the same rows in
    different orders, or search them without an index and lock far more than they change.

How it is computed
    Innodb_deadlocks (MariaDB) or the counter lock_deadlocks of innodb_metrics (MySQL, on by default, read with PROCESS)
    grew by 0.1 a second or more.

When to dismiss it
    The application retries, its users do not notice, and the cause is known.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.facts.statements import Deadlocks
from advisor.engine.outcome import Finding, Item, Message, Passed, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import Investigate


@dataclass(frozen=True)
class Parameters(Thresholds):
    """When it is too many."""

    deadlocks_per_second: float = threshold(0.1, unit=Unit.PER_SECOND, meaning="deadlocks", leave_at=0.07)


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-deadlocks-handling.html",
        "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-lock-modes",
    ],
)


@rule.check
def check(deadlocks: Deadlocks, p: Parameters) -> Finding | Passed:
    if deadlocks.per_second < p.deadlocks_per_second:
        return Passed(deadlocks.measured())
    return Finding(
        (
            Item(
                message=Message("{rate} deadlocks a second", {"rate": Quantity(deadlocks.per_second, Unit.PER_SECOND)}),
                evidence=deadlocks.measured(),
                proposal=(
                    Investigate(
                        "Read the newest one in SHOW ENGINE INNODB STATUS (innodb_print_all_deadlocks writes all of "
                        "them): change rows in the same order everywhere, index what UPDATE and DELETE search by, keep "
                        "transactions short, and let the application retry."
                    ),
                ),
                expected=Message("Work that is done is not thrown away."),
                would_change_our_mind=Message("A known cause, and an application that retries."),
            ),
        )
    )


rule.fires("MariaDB counts them itself", scene("mariadb 10.11.18", counters={"Innodb_deadlocks": 1}, deliberate=True))
rule.fires(
    "MySQL counts them in innodb_metrics", scene("mysql 8.0.33", counters={"lock_deadlocks": 2}, deliberate=True)
)
rule.passes("None", scene("mariadb 10.11.18", counters={"Innodb_deadlocks": 0}, deliberate=True))
rule.passes("One in a while", scene("mysql 8.0.33", counters={"lock_deadlocks": 0.02}, deliberate=True))
