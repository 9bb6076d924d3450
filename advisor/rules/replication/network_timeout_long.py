"""A replica notices only after many minutes that its source is gone.

Why it matters
    A connection that a firewall or a crashed machine dropped looks like a quiet source. The replica waits for
    replica_net_timeout before it connects again: for that long it says that it runs and is not behind, while it
    receives nothing.

How it is computed
    The server replicates from another one and replica_net_timeout (slave_net_timeout) is above five minutes. The
    default is 60 s; it was an hour before MySQL 5.7.7 and MariaDB 10.2, and many option files still say so.
    Heartbeats of half that time keep a quiet connection from being taken for a dead one.

When to dismiss it
    The link is cut for minutes at a time, and each new connection is costly.
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
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import MINUTE, Quantity, Unit
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class Timeout(Settings):
    """For how long nothing may arrive, in seconds."""

    also_called: ClassVar[Mapping[str, tuple[str, ...]]] = {"replica_net_timeout": ("slave_net_timeout",)}

    replica_net_timeout: int


@dataclass(frozen=True)
class Parameters(Thresholds):
    """What is long."""

    longest_seconds: float = threshold(5 * MINUTE, unit=Unit.SECONDS, meaning="until a dead source is noticed")


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/replication-options-replica.html",
        "https://mariadb.com/docs/server/ha-and-performance/standard-replication/replication-and-binary-log-system-variables",
    ],
)


@rule.check
def check(timeout: Timeout, replica: Channels, p: Parameters) -> Finding | Passed:
    if timeout.replica_net_timeout <= p.longest_seconds:
        return Passed(timeout.measured())
    return Finding(
        (
            Item(
                message=Message(
                    "A source that is gone is noticed after {time}",
                    {"time": Quantity(timeout.replica_net_timeout, Unit.SECONDS)},
                ),
                evidence=timeout.measured(),
                proposal=(SetVariable(timeout.called("replica_net_timeout"), MINUTE),),
                expected=Message("The replica connects again a minute after the last event or heartbeat."),
                price=(
                    Price(
                        PriceKind.OVERHEAD,
                        Message("none, where the channel's heartbeat is below it: it counts from the next start of it"),
                    ),
                ),
                would_change_our_mind=Message("A link that is cut for minutes at a time."),
            ),
        )
    )


rule.fires(
    "An hour, as it once was",
    scene("mysql 8.0.33", {"replica_net_timeout": 3600}, role="replica", replication=[channel_row()]),
    proposes={"replica_net_timeout": 60},
)
rule.fires(
    "An hour on MariaDB",
    scene("mariadb 10.11.18", {"slave_net_timeout": 3600}, role="replica", replication=[channel_row()]),
    proposes={"slave_net_timeout": 60},
)
rule.passes(
    "Five minutes", scene("mysql 8.0.33", {"replica_net_timeout": 300}, role="replica", replication=[channel_row()])
)
rule.passes("The default of MySQL 9", scene("mysql 9.7.4", role="replica", replication=[channel_row()]))
rule.passes("The default of MariaDB", scene("mariadb 10.11.18", role="replica", replication=[channel_row()]))
