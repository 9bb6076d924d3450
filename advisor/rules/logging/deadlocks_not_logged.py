"""Deadlocks happen, and all but the newest are forgotten.

Why it matters
    SHOW ENGINE INNODB STATUS holds the newest deadlock only. Where they happen all the time, the one that a user
    complains about is gone by then; with innodb_print_all_deadlocks each is in the error log, with both transactions
    and what they waited for.

How it is computed
    innodb_print_all_deadlocks is OFF, and deadlocks happened: Innodb_deadlocks (MariaDB) or lock_deadlocks (MySQL) grew
    by one in ten minutes or more. A server without deadlocks hears nothing.

When to dismiss it
    Their cause is known, or so many happen that the error log would be of no other use.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.facts.statements import Deadlocks
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class Printing(Settings):
    """Whether each deadlock goes into the error log."""

    innodb_print_all_deadlocks: bool


@dataclass(frozen=True)
class Parameters(Thresholds):
    """When it is worth the lines, and when no more."""

    deadlocks_per_second: float = threshold(
        1 / 600, unit=Unit.PER_SECOND, meaning="deadlocks that nobody writes down", leave_at=1 / 1200
    )


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-deadlocks-handling.html",
        "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-system-variables",
    ],
)


@rule.check
def check(printing: Printing, deadlocks: Deadlocks, p: Parameters) -> Finding | Passed:
    figures = printing.measured() + deadlocks.measured()
    if printing.innodb_print_all_deadlocks or deadlocks.per_second < p.deadlocks_per_second:
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message(
                    "{rate} deadlocks a second, of which the server keeps the newest only",
                    {"rate": Quantity(deadlocks.per_second, Unit.PER_SECOND)},
                ),
                evidence=figures,
                proposal=(SetVariable("innodb_print_all_deadlocks", True),),
                expected=Message("Each deadlock is in the error log, with both of its transactions."),
                price=(Price(PriceKind.DISK, Message("some ten lines in the error log for each deadlock")),),
                would_change_our_mind=Message("A cause that is known."),
            ),
        )
    )


rule.fires(
    "Deadlocks on MariaDB",
    scene("mariadb 10.11.18", counters={"Innodb_deadlocks": 0.2}, deliberate=True),
    proposes={"innodb_print_all_deadlocks": True},
)
rule.fires(
    "Deadlocks on MySQL",
    scene("mysql 8.0.33", counters={"lock_deadlocks": 0.2}, deliberate=True),
    proposes={"innodb_print_all_deadlocks": True},
)
rule.passes("None", scene("mariadb 10.11.18", counters={"Innodb_deadlocks": 0}, deliberate=True))
rule.passes(
    "Each is logged",
    scene("mysql 8.0.33", {"innodb_print_all_deadlocks": "ON"}, counters={"lock_deadlocks": 0.2}, deliberate=True),
)
