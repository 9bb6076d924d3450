"""A replica skips errors instead of stopping.

Why it matters
    An error of the applier says that this replica no longer holds what its source holds. With replica_skip_errors
    (slave_skip_errors) it drops the change and goes on: from then on the two differ, more with each skipped change,
    and nobody is told.

How it is computed
    The server replicates from another one and the variable is anything but OFF.

When to dismiss it
    It is set for the hours of one repair and will be gone afterwards; or it is ddl_exist_errors only.
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
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import Investigate, SetVariable


@dataclass(frozen=True)
class Skipped(Settings):
    """OFF, or numbers of errors, all, ddl_exist_errors."""

    also_called: ClassVar[Mapping[str, tuple[str, ...]]] = {"replica_skip_errors": ("slave_skip_errors",)}

    replica_skip_errors: str


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
def check(skipped: Skipped, replica: Channels) -> Finding | Passed:
    if skipped.replica_skip_errors.upper() in ("OFF", ""):
        return Passed(skipped.measured())
    name = skipped.called("replica_skip_errors")
    return Finding(
        (
            Item(
                message=Message(
                    "{name} = {errors}: changes that fail are dropped, and the replica differs from its source",
                    {
                        "name": Quantity(name, Unit.TEXT),
                        "errors": Quantity(skipped.replica_skip_errors[:60], Unit.TEXT),
                    },
                ),
                evidence=skipped.measured(),
                proposal=(
                    SetVariable(name, "OFF"),
                    Investigate(
                        "Compare this replica with its source, or build it again: changes may be missing already."
                    ),
                ),
                expected=Message("The replica stops at the first difference instead of hiding it."),
                price=(Price(PriceKind.RESTART, Message("replication stops at errors that were skipped until now")),),
                would_change_our_mind=Message("A repair that is going on just now."),
            ),
        )
    )


rule.fires(
    "Duplicates and missing rows",
    scene("mysql 8.0.33", {"replica_skip_errors": "1032,1062"}, role="replica", replication=[channel_row()]),
    proposes={"replica_skip_errors": "OFF"},
)
rule.fires(
    "All of them",
    scene("mariadb 10.11.18", {"slave_skip_errors": "ALL"}, role="replica", replication=[channel_row()]),
    proposes={"slave_skip_errors": "OFF"},
)
rule.passes("None", scene("mysql 8.0.33", {"replica_skip_errors": "OFF"}, role="replica", replication=[channel_row()]))
rule.passes(
    "None on MariaDB",
    scene("mariadb 10.11.18", {"slave_skip_errors": "OFF"}, role="replica", replication=[channel_row()]),
)
rule.passes("None on MySQL 9", scene("mysql 9.7.4", role="replica", replication=[channel_row()]))
