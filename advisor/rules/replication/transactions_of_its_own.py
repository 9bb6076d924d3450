"""A replica holds transactions that it ran itself.

Why it matters
    Transactions under the replica's own identity were written here, not received. After a fail-over to this replica
    all others want them: if they are no longer in its log, replication fails; if they are, rows appear that the old
    source never had. They are found in time only if somebody looks before the fail-over.

How it is computed
    The executed set of GTIDs that a channel tells contains this server's own server_uuid. A replica that was a source
    before has such transactions, too, and then its source has them as well: compare before anything is done.

When to dismiss it
    This server was the source once, and its source holds the same transactions.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.facts.replication import Channels, channel_row
from advisor.engine.outcome import Finding, Item, Measured, Message, Passed, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.units import Unit
from advisor.mysql.proposal import Investigate


@dataclass(frozen=True)
class Myself(Settings):
    """Who this server is in GTIDs."""

    server_uuid: str


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7"],
    since="0.2",
    references=["https://dev.mysql.com/doc/refman/8.4/en/replication-gtids-failover.html"],
)


@rule.check
def check(myself: Myself, replica: Channels) -> Finding | Passed:
    own = [
        part.strip()
        for channel in replica.channels
        for part in channel.executed.split(",")
        if myself.server_uuid and part.strip().lower().startswith(myself.server_uuid.lower())
    ]
    figures = (
        *myself.measured(),
        Measured(
            "own transactions", own[0][len(myself.server_uuid) + 1 :] if own else "none", Unit.TEXT, None, "GTIDs"
        ),
    )
    if not own:
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message("The replica holds transactions that it ran itself and its source may not have"),
                evidence=figures,
                proposal=(
                    Investigate(
                        "On the source: SELECT GTID_SUBTRACT('the replica's executed set', @@GLOBAL.gtid_executed). If "
                        "it is empty, this server was a source once and all is well. Else look at them with "
                        "mysqlbinlog, mend the data, and commit empty transactions with these GTIDs on the source."
                    ),
                ),
                expected=Message("A fail-over to this replica brings no surprise."),
                would_change_our_mind=Message("A server that was the source before."),
            ),
        )
    )


_MINE, _SOURCE = "11111111-aaaa-11ee-8888-000000000001", "22222222-bbbb-11ee-8888-000000000002"

rule.fires(
    "Three of its own",
    scene(
        "mysql 8.0.33",
        {"server_uuid": _MINE},
        role="replica",
        replication=[channel_row(executed_gtid_set=f"{_MINE}:1-3,{_SOURCE}:1-5000")],
    ),
)
rule.passes(
    "Only received ones",
    scene(
        "mysql 8.0.33",
        {"server_uuid": _MINE},
        role="replica",
        replication=[channel_row(executed_gtid_set=f"{_SOURCE}:1-5000")],
    ),
)
