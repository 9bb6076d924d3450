"""Commits wait for company that does not come.

Why it matters
    A delay before the binary log is synced lets more commits share one sync: worth it with hundreds of commits a
    second on a slow disk. With few commits each waits for the whole delay, alone, and nothing is saved.

How it is computed
    MySQL: binlog_group_commit_sync_delay is at least 1 ms, somebody commits, and fewer than half a commit falls into
    one delay; commits are counted by Handler_prepare, which rises by two for each (binary log and InnoDB). MariaDB:
    binlog_commit_wait_count is above 0 with a wait of at least 1 ms, and fewer than 1.5 commits shared a group
    (Binlog_commits over Binlog_group_commits). Both over the time between full snapshots. Proposed is 0.

When to dismiss it
    The delay is there for replicas: commits of one group can be applied in parallel there, and the source may wait.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Rates, Settings
from advisor.engine.facts.replication import BinaryLog
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class Wait(Settings):
    """How long a commit waits for others, in microseconds, and for how many at most (MariaDB: 0 is not at all)."""

    binlog_group_commit_sync_delay: int = 0
    binlog_commit_wait_count: int = 0
    binlog_commit_wait_usec: int = 0

    @property
    def seconds(self) -> float:
        """0 where nothing waits."""
        if self.binlog_commit_wait_count:
            return self.binlog_commit_wait_usec / 1e6
        return self.binlog_group_commit_sync_delay / 1e6


@dataclass(frozen=True)
class Commits(Rates):
    """What tells of commits, per second."""

    handler_prepare: float
    binlog_commits: float = 0.0
    binlog_group_commits: float = 0.0


@dataclass(frozen=True)
class Parameters(Thresholds):
    """When the wait is in vain."""

    shortest_seconds: float = threshold(0.001, unit=Unit.SECONDS, meaning="shorter delays do no harm")
    commits_per_second: float = threshold(0.1, unit=Unit.PER_SECOND, meaning="somebody commits", leave_at=0.05)
    company: float = threshold(0.5, unit=Unit.COUNT, meaning="other commits that join one", leave_at=0.7)


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/replication-options-binary-log.html",
        "https://mariadb.com/docs/server/server-management/server-monitoring-logs/binary-log/group-commit-for-the-binary-log",
    ],
)


@rule.check
def check(wait: Wait, commits: Commits, _log: BinaryLog, p: Parameters) -> Finding | Passed:
    figures = wait.measured() + commits.measured()
    if wait.seconds < p.shortest_seconds:
        return Passed(figures)
    if wait.binlog_commit_wait_count:
        each_second = commits.binlog_commits
        company = commits.binlog_commits / commits.binlog_group_commits - 1 if commits.binlog_group_commits else 0.0
        proposal = SetVariable("binlog_commit_wait_count", 0)
    else:
        each_second = commits.handler_prepare / 2
        company = each_second * wait.seconds
        proposal = SetVariable("binlog_group_commit_sync_delay", 0)
    if each_second < p.commits_per_second or company >= p.company:
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message(
                    "Each commit waits up to {time} for others, and hardly any come",
                    {"time": Quantity(wait.seconds, Unit.SECONDS)},
                ),
                evidence=figures,
                proposal=(proposal,),
                expected=Message("Commits are faster by that time; the disk syncs as often as now."),
                price=(Price(PriceKind.DISK_WRITES, Message("in busier times each group of commits is smaller")),),
                would_change_our_mind=Message("A delay that is meant for the parallel appliers of replicas."),
            ),
        )
    )


rule.fires(
    "Ten milliseconds and five commits a second",
    scene(
        "mysql 8.0.33",
        {"binlog_group_commit_sync_delay": 10_000},
        counters={"Handler_prepare": 10},
        deliberate=True,
    ),
    proposes={"binlog_group_commit_sync_delay": 0},
)
rule.fires(
    "MariaDB waits for ten that do not come",
    scene(
        "mariadb 10.11.18",
        {"log_bin": "ON", "binlog_commit_wait_count": 10},
        counters={"Handler_prepare": 20, "Binlog_commits": 10, "Binlog_group_commits": 10},
        deliberate=True,
    ),
    proposes={"binlog_commit_wait_count": 0},
)
rule.passes(
    "A thousand commits a second share the delay",
    scene(
        "mysql 8.0.33",
        {"binlog_group_commit_sync_delay": 10_000},
        counters={"Handler_prepare": 2000},
        deliberate=True,
    ),
)
rule.passes("No delay", scene("mysql 8.0.33", counters={"Handler_prepare": 10}, deliberate=True))
rule.passes(
    "Groups of four",
    scene(
        "mariadb 10.11.18",
        {"log_bin": "ON", "binlog_commit_wait_count": 10},
        counters={"Handler_prepare": 800, "Binlog_commits": 400, "Binlog_group_commits": 100},
        deliberate=True,
    ),
)
rule.passes(
    "MariaDB without a wait",
    scene(
        "mariadb 10.11.18",
        {"log_bin": "ON"},
        counters={"Handler_prepare": 20, "Binlog_commits": 10, "Binlog_group_commits": 10},
        deliberate=True,
    ),
)
