"""New tables are created in an engine without transactions.

Why it matters
    CREATE TABLE without ENGINE takes default_storage_engine. With MyISAM, Aria or MEMORY there, a new table has no
    transactions, no foreign keys, locks as a whole, and is not safe in a crash: ROLLBACK does nothing to it but a
    warning, and a dump with --single-transaction is not consistent.

How it is computed
    From the setting alone: default_storage_engine is one of MyISAM, Aria, MEMORY, CSV, ARCHIVE, BLACKHOLE and MERGE.

When to dismiss it
    An installation that works with such tables only, and knows what that means.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.outcome import Finding, Item, Message, Passed, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import Investigate


@dataclass(frozen=True)
class DefaultEngine(Settings):
    """The engine of tables that name none."""

    default_storage_engine: str


#: Engines without transactions, by both vendors' manuals.
_WITHOUT = frozenset({"MYISAM", "ARIA", "MEMORY", "HEAP", "CSV", "ARCHIVE", "BLACKHOLE", "MRG_MYISAM", "MERGE"})

rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/storage-engine-setting.html",
        "https://mariadb.com/docs/server/server-usage/storage-engines/choosing-the-right-storage-engine",
    ],
)


@rule.check
def check(setting: DefaultEngine) -> Finding | Passed:
    if setting.default_storage_engine.upper() not in _WITHOUT:
        return Passed(setting.measured())
    return Finding(
        (
            Item(
                message=Message(
                    "New tables are created in {engine}, which has no transactions",
                    {"engine": Quantity(setting.default_storage_engine, Unit.TEXT)},
                ),
                evidence=setting.measured(),
                proposal=(
                    Investigate(
                        "Set default_storage_engine = InnoDB in the option file once it is known that no installation "
                        "script relies on the present one, and look at the tables that were created meanwhile."
                    ),
                ),
                expected=Message("New tables survive a crash, and ROLLBACK takes back what was done."),
                would_change_our_mind=Message("An installation that works with such tables on purpose."),
            ),
        )
    )


rule.fires("MyISAM on MySQL", scene("mysql 8.0.33", {"default_storage_engine": "MyISAM"}))
rule.fires("Aria on MariaDB", scene("mariadb 10.11.18", {"default_storage_engine": "Aria"}))
rule.passes("The default", scene("mysql 8.0.33"))
rule.passes("Another engine with transactions", scene("mariadb 10.11.18", {"default_storage_engine": "ROCKSDB"}))
