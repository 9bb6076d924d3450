"""A replica follows its source by file and position instead of GTIDs.

Why it matters
    A file and a position mean something on one source only. After a fail-over the other replicas have to be told by
    hand where to go on in the new source's log, at the very moment at which nobody has time; a mistake skips or
    repeats transactions.

How it is computed
    A channel has Auto_Position = 0 (MySQL) or Using_Gtid = No (MariaDB).

When to dismiss it
    The source is too old for GTIDs, or there is one replica only, which is always built again from a copy.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.facts.replication import Channels, channel_row
from advisor.engine.outcome import Finding, Item, Measured, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import Investigate


@dataclass(frozen=True)
class Gtids(Settings):
    """MySQL's gtid_mode; MariaDB always writes GTIDs."""

    gtid_mode: str = "ON"
    enforce_gtid_consistency: str = "ON"


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/replication-gtids.html",
        "https://mariadb.com/docs/server/ha-and-performance/standard-replication/gtid",
    ],
)


@rule.check
def check(replica: Channels, gtids: Gtids) -> Finding | Passed:
    by_file = [channel for channel in replica.channels if not channel.by_gtid]
    figures = (
        *gtids.measured(),
        Measured("channels that do not use GTIDs", len(by_file), Unit.COUNT, None, "replica status"),
    )
    if not by_file:
        return Passed(figures)
    if not gtids.exists("gtid_mode"):
        advice = "STOP SLAVE; CHANGE MASTER TO MASTER_USE_GTID = slave_pos; START SLAVE."
    elif gtids.gtid_mode.upper() == "ON":
        advice = (
            "Stop replication, change the channel to SOURCE_AUTO_POSITION = 1 (MASTER_AUTO_POSITION before 8.0.23), "
            "and start it."
        )
    else:
        advice = (
            "Switch GTIDs on step by step, on the source and all replicas: enforce_gtid_consistency = WARN until the "
            "log shows no warning, then ON; then gtid_mode = OFF_PERMISSIVE, ON_PERMISSIVE, ON, each on all servers "
            "before the next; then SOURCE_AUTO_POSITION = 1 on each channel."
        )
    return Finding(
        (
            Item(
                message=Message(
                    "{count} of {channels} channels do not use GTIDs: a fail-over needs positions by hand",
                    {
                        "count": Quantity(len(by_file), Unit.COUNT),
                        "channels": Quantity(len(replica.channels), Unit.COUNT),
                    },
                ),
                evidence=figures,
                proposal=(Investigate(advice),),
                expected=Message("A replica can be pointed at any other server of the set."),
                price=(Price(PriceKind.DISK_WRITES, Message("a GTID is logged with each transaction")),),
                would_change_our_mind=Message("A single replica that is always built again from a copy."),
            ),
        )
    )


rule.fires(
    "GTIDs are off",
    scene("mysql 8.0.33", {"gtid_mode": "OFF"}, role="replica", replication=[channel_row(auto_position=0)]),
)
rule.fires(
    "GTIDs are written and not used",
    scene("mysql 9.7.4", {"gtid_mode": "ON"}, role="replica", replication=[channel_row(auto_position=0)]),
)
rule.fires("MariaDB", scene("mariadb 10.11.18", role="replica", replication=[channel_row(using_gtid="No")]))
rule.passes("Used", scene("mysql 8.0.33", {"gtid_mode": "ON"}, role="replica", replication=[channel_row()]))
rule.passes(
    "Used on MariaDB", scene("mariadb 10.11.18", role="replica", replication=[channel_row(using_gtid="Slave_Pos")])
)
