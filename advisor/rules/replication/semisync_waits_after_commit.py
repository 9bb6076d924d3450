"""Semi-synchronous replication waits only after the commit is visible.

Why it matters
    With AFTER_COMMIT other sessions see a transaction before any replica has it. If the source is lost at that
    moment, they have read, and perhaps acted upon, data that the promoted replica never had. AFTER_SYNC waits before
    the commit is visible: what was seen is safe on a replica.

How it is computed
    Semi-synchronous replication is enabled on this source and its wait point is AFTER_COMMIT, which is MariaDB's
    default and not MySQL's.

When to dismiss it
    Phantom reads after a fail-over are acceptable, and the slightly longer holding of locks is not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from advisor.engine.declared import Settings
from advisor.engine.facts.replication import BinaryLog
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class SemiSync(Settings):
    """Whether this source waits for replicas, and when."""

    also_called: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "rpl_semi_sync_source_enabled": ("rpl_semi_sync_master_enabled",),
        "rpl_semi_sync_source_wait_point": ("rpl_semi_sync_master_wait_point",),
    }

    rpl_semi_sync_source_enabled: bool
    rpl_semi_sync_source_wait_point: str


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mariadb>=10.3"],
    since="0.2",
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/replication-semisync.html",
        "https://mariadb.com/docs/server/ha-and-performance/standard-replication/semisynchronous-replication",
    ],
)


@rule.check
def check(semisync: SemiSync, _log: BinaryLog) -> Finding | Passed:
    after_commit = semisync.rpl_semi_sync_source_wait_point.upper() == "AFTER_COMMIT"
    if not semisync.rpl_semi_sync_source_enabled or not after_commit:
        return Passed(semisync.measured())
    return Finding(
        (
            Item(
                message=Message("Others see a commit before any replica has it: a fail-over can take it back"),
                evidence=semisync.measured(),
                proposal=(SetVariable(semisync.called("rpl_semi_sync_source_wait_point"), "AFTER_SYNC"),),
                expected=Message("Nobody sees what a fail-over could lose."),
                price=(Price(PriceKind.WRITE_LATENCY, Message("locks are held until a replica has answered")),),
                would_change_our_mind=Message("Locks that must not be held for a round trip."),
            ),
        )
    )


rule.fires(
    "MariaDB's default, once it is enabled",
    scene("mariadb 10.11.18", {"log_bin": "ON", "rpl_semi_sync_master_enabled": "ON"}),
    proposes={"rpl_semi_sync_master_wait_point": "AFTER_SYNC"},
)
rule.passes(
    "After the sync",
    scene(
        "mariadb 10.11.18",
        {"log_bin": "ON", "rpl_semi_sync_master_enabled": "ON", "rpl_semi_sync_master_wait_point": "AFTER_SYNC"},
    ),
)
rule.passes("Not enabled", scene("mariadb 11.8.6", {"log_bin": "ON"}))
