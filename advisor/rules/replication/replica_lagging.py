"""A replica is far behind its source.

Why it matters
    Who reads from it sees old data, and a fail-over to it waits until it has caught up, or loses what it has not
    received. A replica that is behind now is usually slower than its source writes, and falls back further.

How it is computed
    The replica runs and says that it is more than a minute behind, beyond the delay that was asked for (SQL_Delay).
    The figure is the server's own: the age of the event it applies now. It says nothing while the replica receives
    nothing.

When to dismiss it
    One long transaction or an ALTER TABLE is being applied, or the replica has just been started and catches up.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.facts.replication import Applier, Channels, channel_row
from advisor.engine.outcome import Finding, Item, Message, Passed, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import MINUTE, Quantity, Unit
from advisor.mysql.proposal import Investigate


@dataclass(frozen=True)
class Parameters(Thresholds):
    """What is far."""

    lag_seconds: float = threshold(
        MINUTE, unit=Unit.SECONDS, meaning="behind the source beyond the wanted delay", leave_at=MINUTE / 2
    )


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/replication-administration-status.html",
        "https://mariadb.com/docs/server/ha-and-performance/standard-replication/replication-overview",
    ],
)


@rule.check
def check(replica: Channels, applier: Applier, p: Parameters) -> Finding | Passed:
    items = []
    for channel in replica.channels:
        lag = channel.unwanted_lag_seconds
        if lag is None or lag < p.lag_seconds:
            continue
        first = (
            "It applies with one thread: see the advice on parallel appliers. "
            if applier.serial
            else "Look whether its disk or a lock of a session here holds it up. "
        )
        items.append(
            Item(
                message=Message(
                    "{channel} is {time} behind",
                    {"channel": Quantity(channel.subject, Unit.TEXT), "time": Quantity(lag, Unit.SECONDS)},
                ),
                evidence=(*channel.measured(), *applier.measured()),
                proposal=(
                    Investigate(
                        f"{first}Look what it applies now: one long transaction, a table without a primary key whose "
                        "rows are searched one by one, or a session here that holds a lock."
                    ),
                ),
                subject=channel.name or None,
                would_change_our_mind=Message("A replica that has just been started and catches up."),
            )
        )
    if items:
        return Finding(tuple(items))
    return Passed((*replica.measured(), *applier.measured()))


rule.fires("Ten minutes", scene("mysql 8.0.33", role="replica", replication=[channel_row(seconds_behind_source=600)]))
rule.fires(
    "Two minutes beyond the delay of an hour",
    scene("mariadb 10.11.18", role="replica", replication=[channel_row(seconds_behind_source=3720, sql_delay=3600)]),
)
rule.passes(
    "As late as was asked for",
    scene("mariadb 10.11.18", role="replica", replication=[channel_row(seconds_behind_source=3600, sql_delay=3600)]),
)
rule.passes("Five seconds", scene("mysql 8.0.33", role="replica", replication=[channel_row(seconds_behind_source=5)]))
rule.passes(
    "It does not run: another fault",
    scene("mysql 5.7.22", role="replica", replication=[channel_row(seconds_behind_source=None)]),
)
