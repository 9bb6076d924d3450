"""A replica that falls behind applies with one thread.

Why it matters
    The source commits with many sessions at once; a replica with one applier does the same work one transaction after
    the other and waits for the disk at each commit. It falls behind as soon as the source writes more than one thread
    can.

How it is computed
    The replica is more than ten seconds behind (beyond a wanted delay) and applies with at most one worker, or on
    MySQL before 8.0.27 with workers that divide by schema only (DATABASE). Proposed are four workers: enough for
    most, and they keep the order of commits. The servers refuse the change, or let it wait, while the applier runs:
    the order of steps is told.

When to dismiss it
    It is behind because of one long transaction: more threads do not make that faster.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from advisor.engine.facts.replication import Applier, Channels, channel_row
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import Investigate

WORKERS = 4


@dataclass(frozen=True)
class Parameters(Thresholds):
    """When a replica is behind."""

    lag_seconds: float = threshold(
        10, unit=Unit.SECONDS, meaning="behind the source beyond the wanted delay", leave_at=5
    )


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/replication-options-replica.html",
        "https://mariadb.com/docs/server/ha-and-performance/standard-replication/parallel-replication",
    ],
)


@rule.check
def check(replica: Channels, applier: Applier, p: Parameters) -> Finding | Passed:
    figures = (*replica.measured(), *applier.measured())
    by_schema = applier.replica_parallel_type.upper() == "DATABASE"
    if replica.worst_lag_seconds < p.lag_seconds or not (applier.serial or by_schema):
        return Passed(figures)
    workers = applier.called("replica_parallel_workers")
    wanted = max(WORKERS, applier.replica_parallel_workers)
    word = "REPLICA" if workers.startswith("replica") else "SLAVE"
    settings = [f"{workers} = {wanted}"]
    hint = "slave_parallel_mode = optimistic, the default since 10.5, lets most transactions run side by side."
    if workers != "slave_parallel_threads":
        hint = "Before MySQL 8.0.19 the order of commits can be kept only with log_bin and log_slave_updates on."
        settings.append(f"{workers.replace('parallel_workers', 'preserve_commit_order')} = ON")
    if by_schema:
        settings.insert(0, f"{applier.called('replica_parallel_type')} = 'LOGICAL_CLOCK'")
    statements = [f"STOP {word} SQL_THREAD", *(f"SET GLOBAL {one}" for one in settings), f"START {word} SQL_THREAD"]
    proposal = Investigate(
        f"{'; '.join(statements)}; and write it into the option file. It is refused, or without effect, while the "
        f"applier runs. {hint}"
    )
    return Finding(
        (
            Item(
                message=Message(
                    "The replica is {time} behind and applies one transaction at a time",
                    {"time": Quantity(replica.worst_lag_seconds, Unit.SECONDS)},
                ),
                evidence=figures,
                proposal=(proposal,),
                expected=Message("Transactions that do not touch the same rows are applied side by side."),
                price=(Price(PriceKind.OVERHEAD, Message("up to that many threads write at once on the replica")),),
                would_change_our_mind=Message("One long transaction that holds it up."),
            ),
        )
    )


def _late(seconds: int = 300) -> list[Mapping[str, str | None]]:
    return [channel_row(seconds_behind_source=seconds)]


rule.fires(
    "No workers, the default of 8.0.12, by schema",
    scene("mysql 8.0.12", {"slave_parallel_workers": 0}, role="replica", replication=_late()),
)
rule.fires(
    "One worker",
    scene("mysql 8.0.33", {"replica_parallel_workers": 1}, role="replica", replication=_late()),
)
rule.fires(
    "MySQL 9 with one",
    scene("mysql 9.7.4", {"replica_parallel_workers": 1}, role="replica", replication=_late(40)),
)
rule.fires(
    "MariaDB's default", scene("mariadb 10.11.18", {"slave_parallel_threads": 0}, role="replica", replication=_late())
)
rule.passes(
    "One worker suffices", scene("mysql 9.7.4", {"replica_parallel_workers": 1}, role="replica", replication=_late(2))
)
rule.passes(
    "MariaDB keeps up", scene("mariadb 10.11.18", {"slave_parallel_threads": 0}, role="replica", replication=_late(0))
)
rule.passes(
    "Late with four: something else",
    scene("mysql 8.0.33", {"replica_parallel_workers": 4}, role="replica", replication=_late()),
)
rule.passes(
    "MariaDB with eight", scene("mariadb 11.8.6", {"slave_parallel_threads": 8}, role="replica", replication=_late())
)
