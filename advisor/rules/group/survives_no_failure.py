"""A replication group whose number of members lets it survive too little.

Why it matters
    A group goes on only with a majority of its members. Alone, a member has nobody to take over; of two, the loss of
    one stops the other's writes; four survive no more than three do, and can be split into halves that both stop.

How it is computed
    The members that are not in ERROR or OFFLINE are counted: one or two is a warning, four or six a notice. A member
    that is stopped itself cannot tell.

When to dismiss it
    A member is away for maintenance, or the group is for tests.
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
    severity=Severity.WARNING,
    applies_to=["mysql>=8.0"],
    since="0.2",
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/group-replication-fault-tolerance.html",
        "https://dev.mysql.com/doc/refman/8.4/en/group-replication.html",
    ],
)


@rule.check
def check(group: Members) -> Finding | Passed:
    size = sum(1 for member in group.members if member.state not in ("ERROR", "OFFLINE"))
    # A member that is stopped sees itself alone: what the group is can be told by its other members only.
    if not group.counted("ONLINE") or (size > 2 and size % 2):
        return Passed(group.measured())
    return Finding(
        (
            Item(
                message=Message(
                    "A group of {size} members survives the loss of {loss}",
                    {"size": Quantity(size, Unit.COUNT), "loss": Quantity(max(0, (size - 1) // 2), Unit.COUNT)},
                ),
                evidence=group.measured(),
                proposal=(Investigate("Run an odd number of members, three at least, on machines of their own."),),
                severity=Severity.NOTICE if size > 2 else None,
                expected=Message("The group goes on when any one member is lost."),
                would_change_our_mind=Message("A member that is away for maintenance."),
            ),
        )
    )


rule.fires("Alone", made_group("ONLINE"))
rule.fires("Two", made_group("ONLINE", "ONLINE"))
rule.fires("Four", made_group("ONLINE", "ONLINE", "ONLINE", "ONLINE", roles="PSSS"))
rule.passes("Three", made_group("ONLINE", "ONLINE", "ONLINE"))
rule.passes("This member is stopped: it sees nobody", made_group("OFFLINE", roles="-"))
rule.passes("Five", made_group("ONLINE", "ONLINE", "ONLINE", "ONLINE", "RECOVERING", roles="PSSSS"))
