"""A replica commits transactions in another order than its source.

Why it matters
    With several workers that need not keep the order, a later transaction may be visible here before an earlier one:
    who reads sees states that never were on the source, and after a crash the set of executed GTIDs has gaps, which a
    fail-over or a clone then inherits.

How it is computed
    More than one worker applies by the logical clock and replica_preserve_commit_order (slave_preserve_commit_order)
    is off, as it is by default before MySQL 8.0.27. MariaDB keeps the order in all of its usual modes.

When to dismiss it
    Nobody reads from this replica and it will never be promoted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from advisor.engine.declared import Settings
from advisor.engine.facts.replication import Applier, Channels, channel_row
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import Investigate


@dataclass(frozen=True)
class Order(Settings):
    """Whether transactions are committed in the order of the source."""

    also_called: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "replica_preserve_commit_order": ("slave_preserve_commit_order",)
    }

    replica_preserve_commit_order: bool


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7"],
    since="0.2",
    references=["https://dev.mysql.com/doc/refman/8.4/en/replication-options-replica.html"],
)


@rule.check
def check(order: Order, applier: Applier, replica: Channels) -> Finding | Passed:
    figures = (*order.measured(), *applier.measured())
    if applier.serial or order.replica_preserve_commit_order:
        return Passed(figures)
    name = order.called("replica_preserve_commit_order")
    word = "REPLICA" if name.startswith("replica") else "SLAVE"
    return Finding(
        (
            Item(
                message=Message(
                    "{workers} workers commit in any order: readers see states that never were on the source",
                    {"workers": Quantity(applier.replica_parallel_workers, Unit.COUNT)},
                ),
                evidence=figures,
                proposal=(
                    Investigate(
                        f"STOP {word} SQL_THREAD; SET GLOBAL {name} = ON; START {word} SQL_THREAD; and write it into "
                        "the option file. It is refused while the applier runs, needs LOGICAL_CLOCK, and before MySQL "
                        "8.0.19 log_bin and log_slave_updates, too."
                    ),
                ),
                expected=Message("Readers of the replica see only states that the source had, and no gap is left."),
                price=(Price(PriceKind.OVERHEAD, Message("a worker may wait for an earlier transaction to commit")),),
                would_change_our_mind=Message("A replica that nobody reads from or promotes."),
            ),
        )
    )


rule.fires(
    "Workers on 5.7, order not kept by default",
    scene(
        "mysql 5.7.22",
        {"slave_parallel_workers": 8, "slave_parallel_type": "LOGICAL_CLOCK"},
        role="replica",
        replication=[channel_row()],
    ),
)
rule.fires(
    "Switched off",
    scene("mysql 8.0.33", {"replica_preserve_commit_order": "OFF"}, role="replica", replication=[channel_row()]),
)
rule.passes("The defaults of 8.0.27 and later", scene("mysql 8.0.33", role="replica", replication=[channel_row()]))
rule.passes(
    "One thread keeps the order by itself",
    scene("mysql 5.7.22", {"slave_parallel_workers": 0}, role="replica", replication=[channel_row()]),
)
