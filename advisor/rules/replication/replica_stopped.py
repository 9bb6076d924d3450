"""A replica does not replicate.

Why it matters
    Its data stand still: reads from it are stale, a fail-over to it loses everything since it stopped, and once its
    source has removed the files it still needs it has to be built again from a copy.

How it is computed
    A channel's receiver or applier thread does not run. With an error it is critical, and the number of the error
    tells what to look for; a receiver that keeps trying to connect counts as stopped. Without an error somebody
    stopped it: a warning.

When to dismiss it
    A person or a backup stopped it and will start it again.
"""

from __future__ import annotations

from collections.abc import Mapping

from advisor.engine.facts.replication import Channels, channel_row
from advisor.engine.outcome import Finding, Item, Measured, Message, Passed, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import Investigate

#: What the numbers of the commonest errors mean, and where to look first. Texts of errors are never read: they may
#: hold rows.
HINTS: Mapping[int, str] = {
    1007: "it was to create a database that is there already: something wrote to this replica",
    1008: "it was to drop a database that is not there: something wrote to this replica",
    1032: "a row that the source changed is not here: compare the tables with the source before anything is skipped",
    1045: "the source refuses the account or its password",
    1050: "it was to create a table that is there already: something wrote to this replica",
    1062: "a row that the source inserted is here already: something wrote to this replica",
    1129: "the source blocks this host after too many failed connections",
    1146: "a table of the source is not here: compare the schemas with the source",
    1205: "it waited too long for a lock: look for sessions on this replica that hold locks",
    1236: "the source no longer has the events that are needed, or the position is not in its log: build the replica "
    "again from a fresh copy, and keep the log for longer",
    1593: "it cannot start as it is set up: look at server_id and server_uuid, which must differ from the source's",
    1594: "a relay log is damaged: let it be fetched again (relay_log_recovery at a restart)",
    1595: "a relay log could not be written: look at the disk",
    1677: "a column has another type here than on the source",
    2003: "the source cannot be reached: look at the network, the port and whether it runs",
    2005: "the name of the source is not known",
    2013: "the connection to the source was lost",
    2026: "TLS could not be agreed upon with the source",
    2061: "the account needs TLS or the public key of the source (caching_sha2_password)",
}


rule = Rule(
    __name__,
    severity=Severity.CRITICAL,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/replication-administration-status.html",
        "https://mariadb.com/docs/server/ha-and-performance/standard-replication/setting-up-replication",
    ],
)


@rule.check
def check(replica: Channels) -> Finding | Passed:
    items = []
    for channel in replica.channels:
        if channel.running:
            continue
        threads = [
            name
            for name, state in (("receiver", channel.io_running), ("applier", channel.sql_running))
            if state != "Yes"
        ]
        error = channel.sql_errno or channel.io_errno
        why = HINTS.get(error, "the replica's status and error log tell what it is")
        advice = (
            f"Error {error}: {why}. Mend the cause, then start replication again; never skip an event that you "
            "have not understood."
            if error
            else "It is connecting: look again in a minute, and at the network and the source if it still is."
            if channel.io_running not in ("Yes", "No") and channel.sql_running == "Yes"
            else "No error is told: find out who stopped it and why, then start replication again."
        )
        items.append(
            Item(
                message=Message(
                    "The {threads} of {channel} does not run",
                    {
                        "threads": Quantity(" and the ".join(threads), Unit.TEXT),
                        "channel": Quantity(channel.subject, Unit.TEXT),
                    },
                ),
                evidence=(
                    *channel.measured(),
                    Measured("error of the receiver", channel.io_errno, Unit.COUNT, None, "replica status"),
                    Measured("error of the applier", channel.sql_errno, Unit.COUNT, None, "replica status"),
                ),
                proposal=(Investigate(advice),),
                subject=channel.name or None,
                severity=Severity.CRITICAL if error else Severity.WARNING,
                expected=Message("The replica follows its source again."),
                would_change_our_mind=Message("A backup or a person that stopped it for a while."),
            )
        )
    if items:
        return Finding(tuple(items))
    return Passed(tuple(figure for channel in replica.channels for figure in channel.measured()))


rule.fires(
    "A duplicate key",
    scene(
        "mysql 8.0.33",
        role="replica",
        replication=[channel_row(replica_sql_running="No", last_sql_errno=1062, seconds_behind_source=None)],
    ),
)
rule.fires(
    "One of two channels cannot reach its source",
    scene(
        "mysql 9.7.4",
        role="replica",
        replication=[
            channel_row(channel_name="east"),
            channel_row(channel_name="west", replica_io_running="Connecting", last_io_errno=2003),
        ],
    ),
)
rule.fires(
    "Stopped by somebody",
    scene(
        "mariadb 10.11.18",
        role="replica",
        replication=[channel_row(replica_io_running="No", replica_sql_running="No", seconds_behind_source=None)],
    ),
)
rule.fires(
    "It has just begun to connect",
    scene("mysql 8.0.33", role="replica", replication=[channel_row(replica_io_running="Connecting")]),
)
rule.passes("Both threads run", scene("mysql 8.0.33", role="replica", replication=[channel_row()]))
rule.passes(
    "Late, but running", scene("mariadb 10.11.18", role="replica", replication=[channel_row(seconds_behind_source=900)])
)
