"""A shutdown leaves the server as a crash would.

Why it matters
    With innodb_fast_shutdown = 2 InnoDB writes its redo log and ends, without writing the changed pages: the next
    start has to recover as after a crash, which takes as long as the redo log is full. Commits are safe, but copying
    the data directory of a stopped server, upgrading in place and moving to another redo log format all need a clean
    end.

How it is computed
    From the setting: innodb_fast_shutdown is 2. 0, 1 and MariaDB's 3 write all pages.

When to dismiss it
    It was set for one planned stop that has to be short, and is set back afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.facts.redo import OwnRedoLog
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.mysql.proposal import Investigate


@dataclass(frozen=True)
class Shutdown(Settings):
    """How InnoDB ends: 0 slow, 1 fast, 2 as in a crash, 3 (MariaDB) without rolling back."""

    innodb_fast_shutdown: int


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-parameters.html",
        "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-system-variables",
    ],
)


@rule.check
def check(shutdown: Shutdown, _log: OwnRedoLog) -> Finding | Passed:
    if shutdown.innodb_fast_shutdown != 2:
        return Passed(shutdown.measured())
    return Finding(
        (
            Item(
                message=Message("innodb_fast_shutdown = 2: every stop ends like a crash, every start recovers"),
                evidence=shutdown.measured(),
                proposal=(
                    Investigate(
                        "Run SET GLOBAL innodb_fast_shutdown = 1 and take the line out of the option file; before an "
                        "upgrade in place run SET GLOBAL innodb_fast_shutdown = 0."
                    ),
                ),
                expected=Message("A stopped server is complete on disk and starts without recovery."),
                price=(Price(PriceKind.DISK_WRITES, Message("a stop takes until all changed pages are written")),),
                would_change_our_mind=Message("A stop that is planned now and has to be short."),
            ),
        )
    )


rule.fires("Set for one stop and left", scene("mysql 8.0.33", {"innodb_fast_shutdown": 2}))
rule.fires("MariaDB, too", scene("mariadb 10.2.11", {"innodb_fast_shutdown": 2}))
rule.passes("The default", scene("mysql 8.0.33"))
rule.passes("MariaDB's third way writes all pages", scene("mariadb 10.11.18", {"innodb_fast_shutdown": 3}))
rule.passes("A slow shutdown before an upgrade", scene("mysql 5.7.22", {"innodb_fast_shutdown": 0}))
