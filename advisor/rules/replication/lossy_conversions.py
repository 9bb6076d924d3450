"""A replica may cut values to make them fit.

Why it matters
    Where a column is narrower here than on the source, ALL_LOSSY lets the applier cut or round the value: a number
    too large becomes the largest that fits, a text loses its end. The replica holds other data, and no error says so.

How it is computed
    The server replicates from another one and replica_type_conversions (slave_type_conversions) contains ALL_LOSSY.
    Proposed is ALL_NON_LOSSY, which only widens.

When to dismiss it
    Columns are being changed one server after the other, and the narrower side never gets what does not fit.
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
class Conversions(Settings):
    """Words such as ALL_LOSSY and ALL_NON_LOSSY, separated by commas."""

    also_called: ClassVar[Mapping[str, tuple[str, ...]]] = {"replica_type_conversions": ("slave_type_conversions",)}

    replica_type_conversions: str


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/replication-features-differing-tables.html",
        "https://mariadb.com/docs/server/ha-and-performance/standard-replication/replication-and-binary-log-system-variables",
    ],
)


@rule.check
def check(conversions: Conversions, replica: Channels) -> Finding | Passed:
    if "ALL_LOSSY" not in conversions.replica_type_conversions.upper().split(","):
        return Passed(conversions.measured())
    return Finding(
        (
            Item(
                message=Message("Values that do not fit are cut on this replica, without an error"),
                evidence=conversions.measured(),
                proposal=(SetVariable(conversions.called("replica_type_conversions"), "ALL_NON_LOSSY"),),
                expected=Message("A value that does not fit stops replication instead of being changed."),
                price=(Price(PriceKind.OVERHEAD, Message("replication may stop at a column that differs")),),
                would_change_our_mind=Message("Columns that are being changed one server after the other."),
            ),
        )
    )


rule.fires(
    "Lossy",
    scene(
        "mysql 8.0.33",
        {"replica_type_conversions": "ALL_LOSSY,ALL_NON_LOSSY"},
        role="replica",
        replication=[channel_row()],
    ),
    proposes={"replica_type_conversions": "ALL_NON_LOSSY"},
)
rule.fires(
    "Lossy on MariaDB",
    scene("mariadb 10.11.18", {"slave_type_conversions": "ALL_LOSSY"}, role="replica", replication=[channel_row()]),
    proposes={"slave_type_conversions": "ALL_NON_LOSSY"},
)
rule.passes(
    "Widening only",
    scene("mysql 8.0.33", {"replica_type_conversions": "ALL_NON_LOSSY"}, role="replica", replication=[channel_row()]),
)
rule.passes("None on MySQL 9", scene("mysql 9.7.4", role="replica", replication=[channel_row()]))
rule.passes("None on MariaDB", scene("mariadb 10.11.18", role="replica", replication=[channel_row()]))
