"""Data files are written and never synced to disk.

Why it matters
    innodb_flush_method = nosync leaves out every fsync of data files, littlesync most of them. A checkpoint then says
    that pages are on disk which are only in the operating system's cache; after a power failure the redo log that
    could have restored them is gone, and the tables are damaged beyond repair. Both exist for benchmarks.

How it is computed
    From the setting: innodb_flush_method is nosync or littlesync.

When to dismiss it
    A test server, or a replica, whose data may vanish at any time.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.facts.redo import OwnRedoLog
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class FlushMethod(Settings):
    """How data files are opened and synced."""

    innodb_flush_method: str


rule = Rule(
    __name__,
    severity=Severity.CRITICAL,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-parameters.html",
        "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-system-variables",
    ],
)


@rule.check
def check(it: FlushMethod, _log: OwnRedoLog) -> Finding | Passed:
    if it.innodb_flush_method.lower() not in ("nosync", "littlesync"):
        return Passed(it.measured())
    return Finding(
        (
            Item(
                message=Message(
                    "innodb_flush_method = {value}: data files are not synced, a power failure destroys them",
                    {"value": Quantity(it.innodb_flush_method, Unit.TEXT)},
                ),
                evidence=it.measured(),
                proposal=(SetVariable("innodb_flush_method", "O_DIRECT"),),
                expected=Message("What a checkpoint calls written is on the device."),
                price=(Price(PriceKind.RESTART, Message("the setting is read at the start only")),),
                would_change_our_mind=Message("Data that may vanish."),
            ),
        )
    )


rule.fires(
    "A benchmark's setting in production",
    scene("mysql 8.0.33", {"innodb_flush_method": "nosync"}),
    proposes={"innodb_flush_method": "O_DIRECT"},
)
rule.fires("MariaDB", scene("mariadb 10.5.23", {"innodb_flush_method": "littlesync"}))
rule.passes("Direct writes", scene("mysql 8.0.33", {"innodb_flush_method": "O_DIRECT"}))
rule.passes(
    "Direct writes without syncs that a device does not need",
    scene("mysql 8.0.33", {"innodb_flush_method": "O_DIRECT_NO_FSYNC"}),
)
rule.passes("The default of MySQL 5.7 is empty and means fsync", scene("mysql 5.7.22", {"innodb_flush_method": ""}))
rule.passes("MariaDB with fsync", scene("mariadb 10.5.23", {"innodb_flush_method": "fsync"}))
