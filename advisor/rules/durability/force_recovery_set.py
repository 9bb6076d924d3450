"""InnoDB was started for recovery and left in that state.

Why it matters
    innodb_force_recovery is for reading what can still be read of a damaged server. From 1 on InnoDB passes over
    damaged pages, from 2 on it stops its background work (purge), from 4 on it can damage data for good. A server
    that serves people in this state returns rows that are missing something, refuses writes, or makes the damage
    worse.

How it is computed
    From the setting: innodb_force_recovery is not 0.

When to dismiss it
    Someone is dumping the data at this moment, and the server starts without it afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.facts.redo import OwnRedoLog
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import Investigate


@dataclass(frozen=True)
class ForcedRecovery(Settings):
    """How much InnoDB passes over to start at all; 0: nothing."""

    innodb_force_recovery: int


rule = Rule(
    __name__,
    severity=Severity.CRITICAL,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/forcing-innodb-recovery.html",
        "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-troubleshooting/innodb-recovery-modes",
    ],
)


@rule.check
def check(recovery: ForcedRecovery, _log: OwnRedoLog) -> Finding | Passed:
    if recovery.innodb_force_recovery == 0:
        return Passed(recovery.measured())
    return Finding(
        (
            Item(
                message=Message(
                    "InnoDB runs with innodb_force_recovery = {value}",
                    {"value": Quantity(recovery.innodb_force_recovery, Unit.COUNT)},
                ),
                evidence=recovery.measured(),
                proposal=(
                    Investigate(
                        "Dump what can be read, load it into a new data directory, take innodb_force_recovery out of "
                        "the option file and start without it. If the server starts without it and CHECK TABLE finds "
                        "nothing, the line was only forgotten."
                    ),
                ),
                expected=Message("InnoDB checks, purges and writes as usual again."),
                price=(Price(PriceKind.RESTART, Message("the setting is read at the start only")),),
                would_change_our_mind=Message("A dump that is running now."),
            ),
        )
    )


rule.fires("Left over from a recovery", scene("mysql 8.0.33", {"innodb_force_recovery": 1}))
rule.fires("MariaDB in the strongest mode", scene("mariadb 10.11.18", {"innodb_force_recovery": 6}))
rule.passes("The default", scene("mysql 5.7.22"))
rule.passes("The default of MariaDB", scene("mariadb 11.8.6"))
