"""A replica has several appliers, and its mode lets them do little.

Why it matters
    MariaDB's slave_parallel_mode decides what the threads may run side by side. With none they all wait for one; with
    minimal only the commit itself is shared; with conservative only what committed together on the source. Where the
    replica falls behind all the same, the threads cost memory and help little. With optimistic transactions are tried
    in parallel and the rare conflict is rolled back and repeated.

How it is computed
    slave_parallel_threads is above 1, and a channel's mode is none or minimal; or it is conservative (the default
    before 10.5) and the replica is more than ten seconds behind.

When to dismiss it
    Nearly all transactions touch the same few rows: the optimistic ones would be rolled back again and again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from advisor.engine.facts.replication import Applier, Channels, channel_row
from advisor.engine.outcome import Finding, Item, Measured, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import Investigate


@dataclass(frozen=True)
class Parameters(Thresholds):
    """When a replica is behind."""

    lag_seconds: float = threshold(
        10, unit=Unit.SECONDS, meaning="behind the source beyond the wanted delay", leave_at=5
    )


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://mariadb.com/docs/server/ha-and-performance/standard-replication/parallel-replication",
        "https://mariadb.com/docs/server/ha-and-performance/standard-replication/replication-and-binary-log-system-variables",
    ],
)


@rule.check
def check(replica: Channels, applier: Applier, p: Parameters) -> Finding | Passed:
    items = []
    for channel in replica.channels:
        mode = channel.parallel_mode.lower()
        late = (channel.unwanted_lag_seconds or 0) >= p.lag_seconds
        if applier.serial or not (mode in ("none", "minimal") or (mode == "conservative" and late)):
            continue
        prefix = f"{channel.name}." if channel.name else ""
        items.append(
            Item(
                message=Message(
                    "{threads} appliers in the mode {mode}: few of them ever work at once",
                    {
                        "threads": Quantity(applier.replica_parallel_workers, Unit.COUNT),
                        "mode": Quantity(mode, Unit.TEXT),
                    },
                ),
                evidence=(
                    *channel.measured(),
                    *applier.measured(),
                    Measured("parallel mode", mode, Unit.TEXT, None, "replica status"),
                ),
                proposal=(
                    Investigate(
                        f"STOP SLAVE SQL_THREAD; SET GLOBAL {prefix}slave_parallel_mode = 'optimistic'; START SLAVE "
                        "SQL_THREAD; and write it into the option file. It is refused while the applier runs."
                    ),
                ),
                subject=channel.name or None,
                expected=Message("Transactions that do not conflict are applied side by side, and commit in order."),
                price=(Price(PriceKind.OVERHEAD, Message("transactions that conflict are rolled back and repeated")),),
                would_change_our_mind=Message("Transactions that nearly all touch the same rows."),
            )
        )
    if items:
        return Finding(tuple(items))
    return Passed((*replica.measured(), *applier.measured()))


def _mode(mode: str, seconds: int = 0) -> list[Mapping[str, str | None]]:
    return [channel_row(parallel_mode=mode, seconds_behind_source=seconds)]


rule.fires(
    "Eight threads and none",
    scene("mariadb 10.11.18", {"slave_parallel_threads": 8}, role="replica", replication=_mode("none")),
)
rule.fires(
    "Conservative and late",
    scene("mariadb 10.2.11", {"slave_parallel_threads": 4}, role="replica", replication=_mode("conservative", 60)),
)
rule.passes(
    "Conservative and in time",
    scene("mariadb 10.2.11", {"slave_parallel_threads": 4}, role="replica", replication=_mode("conservative")),
)
rule.passes(
    "Optimistic",
    scene("mariadb 10.11.18", {"slave_parallel_threads": 8}, role="replica", replication=_mode("optimistic", 60)),
)
rule.passes(
    "One thread", scene("mariadb 11.8.6", {"slave_parallel_threads": 0}, role="replica", replication=_mode("none"))
)
