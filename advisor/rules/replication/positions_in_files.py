"""A replica keeps its position in a file, which a crash leaves behind the data.

Why it matters
    The data are in InnoDB and the position is in a file beside it: after a crash the file may tell an older place, so
    that transactions are applied twice. Replication then stops with duplicate keys, or changes rows twice without a
    word.

How it is computed
    MySQL: relay_log_info_repository or master_info_repository is FILE, the default of 5.7 (gone in 8.4, where
    positions are always in tables). MariaDB: a channel does not use GTIDs (Using_Gtid = No); with GTIDs the position
    is a row that is committed with the data.

When to dismiss it
    The replica is built again after each crash, whatever its state.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.facts.replication import Channels, channel_row
from advisor.engine.outcome import Finding, Item, Measured, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.units import Unit
from advisor.mysql.proposal import Investigate


@dataclass(frozen=True)
class Repositories(Settings):
    """Where MySQL keeps positions: FILE or TABLE. Others have no such variables."""

    relay_log_info_repository: str = "TABLE"
    master_info_repository: str = "TABLE"

    @property
    def in_files(self) -> bool:
        return "FILE" in (self.relay_log_info_repository.upper(), self.master_info_repository.upper())


@dataclass(frozen=True)
class OnlyMariaDB(Settings):
    """What only MariaDB has: by it the two are told apart without asking for a version."""

    gtid_slave_pos: str = ""


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    references=[
        "https://dev.mysql.com/doc/refman/8.0/en/replication-solutions-unexpected-replica-halt.html",
        "https://mariadb.com/docs/server/ha-and-performance/standard-replication/gtid",
    ],
)


@rule.check
def check(repositories: Repositories, replica: Channels, mariadb: OnlyMariaDB) -> Finding | Passed:
    by_file = [channel for channel in replica.channels if not channel.by_gtid]
    figures = (
        *repositories.measured(),
        Measured("channels that do not use GTIDs", len(by_file), Unit.COUNT, None, "replica status"),
    )
    if mariadb.exists("gtid_slave_pos"):
        if not by_file:
            return Passed(figures)
        advice = (
            "STOP SLAVE; CHANGE MASTER TO MASTER_USE_GTID = slave_pos; START SLAVE: from then on the position is kept "
            "in a table, together with the data."
        )
    else:
        if not repositories.in_files:
            return Passed(figures)
        advice = (
            "STOP SLAVE; SET GLOBAL relay_log_info_repository = 'TABLE'; SET GLOBAL master_info_repository = 'TABLE'; "
            "START SLAVE; and write both into the option file. It is refused while replication runs."
        )
    return Finding(
        (
            Item(
                message=Message(
                    "The replica's position is kept in a file: a crash may make it apply transactions twice"
                ),
                evidence=figures,
                proposal=(Investigate(advice),),
                expected=Message("After a crash the replica goes on exactly where its data are."),
                price=(Price(PriceKind.DISK_WRITES, Message("one more row for each transaction applied")),),
                would_change_our_mind=Message("A replica that is built again after each crash."),
            ),
        )
    )


rule.fires("The default of 5.7", scene("mysql 5.7.22", role="replica", replication=[channel_row()]))
rule.fires(
    "MariaDB by file and position",
    scene("mariadb 10.11.18", role="replica", replication=[channel_row(using_gtid="No")]),
)
rule.passes(
    "Tables on 5.7",
    scene(
        "mysql 5.7.22",
        {"relay_log_info_repository": "TABLE", "master_info_repository": "TABLE"},
        role="replica",
        replication=[channel_row()],
    ),
)
rule.passes("Tables are the default", scene("mysql 8.0.33", role="replica", replication=[channel_row()]))
rule.passes("Nothing else since 8.4", scene("mysql 9.7.4", role="replica", replication=[channel_row()]))
rule.passes(
    "MariaDB by GTID", scene("mariadb 10.11.18", role="replica", replication=[channel_row(using_gtid="Slave_Pos")])
)
