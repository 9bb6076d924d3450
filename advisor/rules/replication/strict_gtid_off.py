"""A MariaDB replica that follows by GTID does not refuse GTIDs out of order.

Why it matters
    Without gtid_strict_mode a transaction that somebody wrote on the replica, or one that comes out of order, is let
    in: two servers then hold different transactions under the same number, or the log goes backwards, and the next
    fail-over fails with an error that is hard to take apart. In strict mode it is refused at once, with an error at
    the place where the mistake is made.

How it is computed
    A channel uses GTIDs (Using_Gtid is Slave_Pos or Current_Pos) and gtid_strict_mode is off, its default.

When to dismiss it
    Several sources write into one domain on purpose, so that their numbers cannot be in order.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.facts.replication import Channels, channel_row
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.mysql.proposal import Investigate


@dataclass(frozen=True)
class Strict(Settings):
    """Whether GTIDs out of order are refused."""

    gtid_strict_mode: bool


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mariadb>=10.2"],
    since="0.2",
    references=["https://mariadb.com/docs/server/ha-and-performance/standard-replication/gtid"],
)


@rule.check
def check(strict: Strict, replica: Channels) -> Finding | Passed:
    if strict.gtid_strict_mode or not any(channel.by_gtid for channel in replica.channels):
        return Passed(strict.measured())
    return Finding(
        (
            Item(
                message=Message(
                    "gtid_strict_mode = OFF: transactions out of order are let in and break a later fail-over"
                ),
                evidence=strict.measured(),
                proposal=(
                    Investigate(
                        "SET GLOBAL gtid_strict_mode = ON on this replica and its source, and write it into both "
                        "option files. Replication stops with an error if something is out of order already."
                    ),
                ),
                expected=Message("A stray write is told when it happens, not at the fail-over."),
                price=(Price(PriceKind.OVERHEAD, Message("replication stops where it would have gone on")),),
                would_change_our_mind=Message("Several sources that share one domain on purpose."),
            ),
        )
    )


rule.fires("The default", scene("mariadb 10.11.18", role="replica", replication=[channel_row(using_gtid="Slave_Pos")]))
rule.passes(
    "Strict",
    scene(
        "mariadb 10.11.18",
        {"gtid_strict_mode": "ON"},
        role="replica",
        replication=[channel_row(using_gtid="Slave_Pos")],
    ),
)
rule.passes(
    "By file and position", scene("mariadb 10.11.18", role="replica", replication=[channel_row(using_gtid="No")])
)
