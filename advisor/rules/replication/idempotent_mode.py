"""A replica takes missing and duplicate rows for success.

Why it matters
    In the mode IDEMPOTENT a row that is to be deleted and is not there, or is to be inserted and is there, is no
    error. Differences between the replica and its source are hidden instead of told, and grow.

How it is computed
    The server replicates from another one and replica_exec_mode (slave_exec_mode) is IDEMPOTENT. STRICT is the
    default but for NDB Cluster.

When to dismiss it
    Several sources write the same rows on purpose (NDB Cluster, circular replication), or a repair is going on.
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
from advisor.mysql.proposal import Investigate, SetVariable


@dataclass(frozen=True)
class Mode(Settings):
    """STRICT or IDEMPOTENT."""

    also_called: ClassVar[Mapping[str, tuple[str, ...]]] = {"replica_exec_mode": ("slave_exec_mode",)}

    replica_exec_mode: str


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
def check(mode: Mode, replica: Channels) -> Finding | Passed:
    if mode.replica_exec_mode.upper() != "IDEMPOTENT":
        return Passed(mode.measured())
    return Finding(
        (
            Item(
                message=Message("Missing and duplicate rows are no error on this replica: differences stay hidden"),
                evidence=mode.measured(),
                proposal=(
                    SetVariable(mode.called("replica_exec_mode"), "STRICT"),
                    Investigate("Compare this replica with its source: it may differ already."),
                ),
                expected=Message("The replica stops at the first difference instead of hiding it."),
                price=(
                    Price(PriceKind.OVERHEAD, Message("replication may stop at a difference that is there already")),
                ),
                would_change_our_mind=Message("Several sources that write the same rows on purpose."),
            ),
        )
    )


rule.fires(
    "Idempotent",
    scene("mysql 8.0.33", {"replica_exec_mode": "IDEMPOTENT"}, role="replica", replication=[channel_row()]),
    proposes={"replica_exec_mode": "STRICT"},
)
rule.fires(
    "Idempotent on MariaDB",
    scene("mariadb 10.11.18", {"slave_exec_mode": "IDEMPOTENT"}, role="replica", replication=[channel_row()]),
    proposes={"slave_exec_mode": "STRICT"},
)
rule.passes(
    "Strict", scene("mysql 8.0.33", {"replica_exec_mode": "STRICT"}, role="replica", replication=[channel_row()])
)
rule.passes("Strict on MySQL 9", scene("mysql 9.7.4", role="replica", replication=[channel_row()]))
rule.passes("Strict on MariaDB", scene("mariadb 10.11.18", role="replica", replication=[channel_row()]))
