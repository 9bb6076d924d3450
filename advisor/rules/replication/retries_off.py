"""A replica stops at the first lock that it has to wait for too long.

Why it matters
    A reader's transaction or a backup can hold a lock that the applier needs; deadlocks between parallel appliers are
    normal. Such transactions succeed when they are tried again. With no retries the first of them stops replication,
    and a person has to start it.

How it is computed
    The server replicates from another one and replica_transaction_retries (slave_transaction_retries) is 0. The
    default is 10.

When to dismiss it
    Never that we know of: it costs nothing where nothing fails.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from advisor.engine.declared import Settings
from advisor.engine.facts.replication import Channels, channel_row
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class Retries(Settings):
    """How often a transaction is tried again."""

    also_called: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "replica_transaction_retries": ("slave_transaction_retries",)
    }

    replica_transaction_retries: int


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/replication-options-replica.html",
        "https://mariadb.com/docs/server/ha-and-performance/standard-replication/replication-and-binary-log-system-variables",
    ],
)


@rule.check
def check(retries: Retries, replica: Channels) -> Finding | Passed:
    if retries.replica_transaction_retries > 0:
        return Passed(retries.measured())
    return Finding(
        (
            Item(
                message=Message("A transaction that fails because of a lock is never tried again: replication stops"),
                evidence=retries.measured(),
                proposal=(SetVariable(retries.called("replica_transaction_retries"), 10),),
                expected=Message("Locks and deadlocks no longer stop replication."),
                price=(Price(PriceKind.OVERHEAD, Message("none where nothing fails")),),
                would_change_our_mind=Message("A tool that wants to see the first failure."),
            ),
        )
    )


rule.fires(
    "None",
    scene("mysql 8.0.33", {"replica_transaction_retries": 0}, role="replica", replication=[channel_row()]),
    proposes={"replica_transaction_retries": 10},
)
rule.fires(
    "None on MariaDB",
    scene("mariadb 10.11.18", {"slave_transaction_retries": 0}, role="replica", replication=[channel_row()]),
    proposes={"slave_transaction_retries": 10},
)
rule.passes(
    "One", scene("mysql 8.0.33", {"replica_transaction_retries": 1}, role="replica", replication=[channel_row()])
)
rule.passes("Ten on MySQL 9", scene("mysql 9.7.4", role="replica", replication=[channel_row()]))
rule.passes("Ten on MariaDB", scene("mariadb 10.11.18", role="replica", replication=[channel_row()]))
