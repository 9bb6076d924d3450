"""This member of the replication group cannot reach the majority.

Why it matters
    Without a majority nothing is committed: every write on this side waits, by default for ever, until the network is
    back or a person forces the membership. Reads go on and get older.

How it is computed
    As many members as half of the group, or more, are UNREACHABLE as seen from this server.

When to dismiss it
    Never: it is an outage of writes on this side.
"""

from __future__ import annotations

from advisor.engine.examples import made_group
from advisor.engine.facts.group import Members
from advisor.engine.outcome import Finding, Item, Message, Passed, Severity
from advisor.engine.rule import Rule
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import Investigate

rule = Rule(
    __name__,
    severity=Severity.CRITICAL,
    applies_to=["mysql>=8.0"],
    since="0.2",
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/group-replication-network-partitioning.html",
        "https://dev.mysql.com/doc/refman/8.4/en/group-replication-replication-group-members.html",
    ],
)


@rule.check
def check(group: Members) -> Finding | Passed:
    unreachable = group.counted("UNREACHABLE")
    if 2 * unreachable < len(group.members):
        return Passed(group.measured())
    return Finding(
        (
            Item(
                message=Message(
                    "{lost} of {all} group members are unreachable: writes wait until the majority is back",
                    {"lost": Quantity(unreachable, Unit.COUNT), "all": Quantity(len(group.members), Unit.COUNT)},
                ),
                evidence=group.measured(),
                proposal=(
                    Investigate(
                        "Mend the network between the members. Only if the others are surely stopped: set "
                        "group_replication_force_members to the addresses of those that are left, on one member, and "
                        "clear it afterwards. With the others alive that makes two groups."
                    ),
                ),
                expected=Message("Writes go on."),
                would_change_our_mind=Message("Members that have just been stopped on purpose."),
            ),
        )
    )


rule.fires("Two of three", made_group("ONLINE", "UNREACHABLE", "UNREACHABLE"))
rule.passes("One of three", made_group("ONLINE", "ONLINE", "UNREACHABLE"))
rule.passes("None", made_group("ONLINE", "ONLINE", "ONLINE"))
