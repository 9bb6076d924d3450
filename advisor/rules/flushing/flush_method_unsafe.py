"""Data files are written without ever being synced.

Why it matters
    innodb_flush_method = nosync leaves out every sync, littlesync most of them: InnoDB takes pages for written that
    only the memory of the machine holds, moves its checkpoint past them and overwrites the redo that could restore
    them. A crash of the machine then leaves a database that cannot be recovered. Both exist for tests of performance.

How it is computed
    From the setting. O_DIRECT is proposed, the default of MySQL since 8.4 and of MariaDB since 10.6.

When to dismiss it
    Everything on this server can be thrown away (a test, a replica that is built anew after each crash).
"""

from __future__ import annotations

from advisor.engine.facts.flushing import (
    DataFileWrites,
)
from advisor.engine.outcome import (
    Finding,
    Item,
    Message,
    Passed,
    Price,
    PriceKind,
    Severity,
)
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import SetVariable

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
def check(files: DataFileWrites) -> Finding | Passed:
    if not files.unsafe:
        return Passed(files.measured())
    return Finding(
        (
            Item(
                message=Message(
                    "innodb_flush_method = {method}: a crash of the machine may lose the database",
                    {"method": Quantity(files.method, Unit.TEXT)},
                ),
                evidence=files.measured(),
                proposal=(SetVariable("innodb_flush_method", "O_DIRECT"),),
                expected=Message("What InnoDB takes for written is written."),
                price=(Price(PriceKind.WRITE_LATENCY, Message("checkpoints wait until the device has their pages")),),
                would_change_our_mind=Message("A server whose data nobody needs."),
            ),
        )
    )


rule.fires(
    "nosync on MySQL 8.0",
    scene("mysql 8.0.33", {"innodb_flush_method": "nosync"}),
    proposes={"innodb_flush_method": "O_DIRECT"},
)
rule.fires(
    "littlesync on MariaDB 10.11",
    scene("mariadb 10.11.18", {"innodb_flush_method": "littlesync"}),
    proposes={"innodb_flush_method": "O_DIRECT"},
)
rule.passes("fsync is safe", scene("mysql 8.0.33", {"innodb_flush_method": "fsync"}))
rule.passes("The default of MariaDB 10.11", scene("mariadb 10.11.18", {"innodb_flush_method": "O_DIRECT"}))
