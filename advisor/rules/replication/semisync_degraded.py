"""Semi-synchronous replication is enabled and does not happen.

Why it matters
    Once no replica answers in time the source goes on asynchronously and says so only in its status. Everybody
    believes that a commit is safe on a second server, while a crash of the source loses what was acknowledged.

How it is computed
    Semi-synchronous replication is enabled on this source and its status is OFF: either no replica with the plugin is
    attached, or the last one did not answer within the timeout.

When to dismiss it
    The replica is being maintained and will be back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from advisor.engine.declared import Settings, Status
from advisor.engine.facts.replication import BinaryLog
from advisor.engine.outcome import Finding, Item, Message, Passed, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.mysql.proposal import Investigate


@dataclass(frozen=True)
class SemiSync(Settings):
    """Whether this source should wait for replicas."""

    also_called: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "rpl_semi_sync_source_enabled": ("rpl_semi_sync_master_enabled",),
    }

    rpl_semi_sync_source_enabled: bool


@dataclass(frozen=True)
class Working(Status):
    """Whether it does, and how many replicas answer; by the old names and by the new ones."""

    rpl_semi_sync_master_status: str = ""
    rpl_semi_sync_source_status: str = ""
    rpl_semi_sync_master_clients: int = 0
    rpl_semi_sync_source_clients: int = 0

    @property
    def on(self) -> bool:
        return "ON" in (self.rpl_semi_sync_master_status.upper(), self.rpl_semi_sync_source_status.upper())

    @property
    def clients(self) -> int:
        return self.rpl_semi_sync_master_clients + self.rpl_semi_sync_source_clients


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/replication-semisync.html",
        "https://mariadb.com/docs/server/ha-and-performance/standard-replication/semisynchronous-replication",
    ],
)


@rule.check
def check(semisync: SemiSync, working: Working, _log: BinaryLog) -> Finding | Passed:
    figures = semisync.measured() + working.measured()
    if not semisync.rpl_semi_sync_source_enabled or working.on:
        return Passed(figures)
    cause = (
        "A replica is attached and did not answer in time: look at its lag, its disk and the network."
        if working.clients
        else "No replica with semi-synchronous replication is attached: enable it on one."
    )
    return Finding(
        (
            Item(
                message=Message(
                    "Commits are acknowledged without any replica, though semi-synchronous replication is on"
                ),
                evidence=figures,
                proposal=(Investigate(cause),),
                expected=Message("A commit is on a second server before it is acknowledged."),
                would_change_our_mind=Message("A replica that is being maintained."),
            ),
        )
    )


rule.fires(
    "No replica answers",
    scene(
        "mariadb 10.11.18",
        {"log_bin": "ON", "rpl_semi_sync_master_enabled": "ON"},
        status={"Rpl_semi_sync_master_status": "OFF", "Rpl_semi_sync_master_clients": 0},
    ),
)
rule.fires(
    "One is attached and too slow",
    scene(
        "mysql 8.0.33",
        {"rpl_semi_sync_source_enabled": "ON"},
        status={"Rpl_semi_sync_source_status": "OFF", "Rpl_semi_sync_source_clients": 1},
    ),
)
rule.passes(
    "It works",
    scene(
        "mariadb 10.11.18",
        {"log_bin": "ON", "rpl_semi_sync_master_enabled": "ON"},
        status={"Rpl_semi_sync_master_status": "ON", "Rpl_semi_sync_master_clients": 1},
    ),
)
rule.passes(
    "It works on MySQL",
    scene(
        "mysql 8.0.33",
        {"rpl_semi_sync_source_enabled": "ON"},
        status={"Rpl_semi_sync_source_status": "ON", "Rpl_semi_sync_source_clients": 2},
    ),
)
rule.passes(
    "Not enabled",
    scene("mariadb 11.8.6", {"log_bin": "ON"}, status={"Rpl_semi_sync_master_status": "OFF"}),
)
