"""A replica leaves out part of what its source sends.

Why it matters
    Who does not know of a filter takes the replica for a whole copy: a fail-over to it, or a backup of it, then lacks
    schemas or tables. Filters by schema (replicate_do_db) also look at the default schema of the session where
    statements are logged, so that changes by other sessions are left out or let in by accident.

How it is computed
    A channel tells a filter: do and ignore lists of schemas, tables, patterns or GTID domains.

When to dismiss it
    The replica is meant to hold a part only, and neither fail-over nor backup uses it.
"""

from __future__ import annotations

from advisor.engine.facts.replication import Channels, channel_row
from advisor.engine.outcome import Finding, Item, Measured, Message, Passed, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import Investigate

rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/replication-rules.html",
        "https://mariadb.com/docs/server/ha-and-performance/standard-replication/replication-filters",
    ],
)


@rule.check
def check(replica: Channels) -> Finding | Passed:
    items = [
        Item(
            message=Message(
                "{channel} is filtered by {kinds}: this replica is no whole copy of its source",
                {
                    "channel": Quantity(channel.subject, Unit.TEXT),
                    "kinds": Quantity(", ".join(kind for kind, _ in channel.filters), Unit.TEXT),
                },
            ),
            evidence=tuple(
                Measured(kind, names[:200], Unit.TEXT, None, "replica status") for kind, names in channel.filters
            ),
            proposal=(
                Investigate(
                    "Make sure that neither fail-over nor backups use this replica. Where it should be whole, remove "
                    "the filters and build it again: what was left out does not come back by itself."
                ),
            ),
            subject=channel.name or None,
            would_change_our_mind=Message("A replica that is meant to hold a part only."),
        )
        for channel in replica.channels
        if channel.filters
    ]
    if items:
        return Finding(tuple(items))
    return Passed((Measured("channels", len(replica.channels), Unit.COUNT, None, "replica status"),))


rule.fires("One schema only", scene("mysql 8.0.33", role="replica", replication=[channel_row(replicate_do_db="shop")]))
rule.fires(
    "Some tables left out",
    scene("mariadb 10.11.18", role="replica", replication=[channel_row(replicate_wild_ignore_table="log.%")]),
)
rule.passes("No filter", scene("mysql 8.0.33", role="replica", replication=[channel_row(replicate_do_db="")]))
rule.passes("No filter on MariaDB", scene("mariadb 10.11.18", role="replica", replication=[channel_row()]))
