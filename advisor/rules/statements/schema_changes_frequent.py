"""Tables are altered, truncated or renamed all the time.

Why it matters
    Each such statement takes an exclusive metadata lock: it waits for every transaction that touched the table, and
    everybody who comes after it waits for it. It also throws the table out of the caches, commits what was open, and
    on MySQL 8 writes the data dictionary. TRUNCATE as a way of emptying a queue is the usual case.

How it is computed
    Com_alter_table + Com_truncate + Com_rename_table + Com_create_index + Com_drop_index grew by 0.2 a second or more.

When to dismiss it
    A migration or an import is running, and will come to its end.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Rates
from advisor.engine.outcome import Finding, Item, Message, Passed, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import Investigate


@dataclass(frozen=True)
class SchemaChanges(Rates):
    """Statements that change tables' definitions, per second."""

    com_alter_table: float
    com_truncate: float
    com_rename_table: float
    com_create_index: float
    com_drop_index: float

    @property
    def in_all(self) -> float:
        """All of them per second."""
        return (
            self.com_alter_table
            + self.com_truncate
            + self.com_rename_table
            + self.com_create_index
            + self.com_drop_index
        )


@dataclass(frozen=True)
class Parameters(Thresholds):
    """When it is a habit."""

    changes_per_second: float = threshold(
        0.2, unit=Unit.PER_SECOND, meaning="statements that change tables' definitions", leave_at=0.15
    )


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/metadata-locking.html",
        "https://mariadb.com/docs/server/reference/sql-statements/transactions/metadata-locking",
    ],
)


@rule.check
def check(rates: SchemaChanges, p: Parameters) -> Finding | Passed:
    if rates.in_all < p.changes_per_second:
        return Passed(rates.measured())
    return Finding(
        (
            Item(
                message=Message(
                    "Tables are altered, truncated or renamed {rate} times a second",
                    {"rate": Quantity(rates.in_all, Unit.COUNT)},
                ),
                evidence=rates.measured(),
                proposal=(
                    Investigate(
                        "Find out who does it. Empty a queue with DELETE of what was worked off, or keep one table and "
                        "tell runs apart by a column; keep work tables as temporary tables."
                    ),
                ),
                expected=Message("Nobody waits for metadata locks, and tables stay in the caches."),
                would_change_our_mind=Message("A migration or an import that will end."),
            ),
        )
    )


_NONE = {"Com_alter_table": 0, "Com_truncate": 0, "Com_rename_table": 0, "Com_create_index": 0, "Com_drop_index": 0}
rule.fires(
    "A queue that is emptied by TRUNCATE", scene("mysql 8.0.33", counters={**_NONE, "Com_truncate": 4}, deliberate=True)
)
rule.fires(
    "Tables swapped by RENAME",
    scene("mariadb 10.11.18", counters={**_NONE, "Com_rename_table": 1, "Com_truncate": 1}, deliberate=True),
)
rule.passes("None", scene("mysql 8.0.33", counters=_NONE, deliberate=True))
rule.passes("One in a minute", scene("mariadb 10.11.18", counters={**_NONE, "Com_alter_table": 0.02}, deliberate=True))
