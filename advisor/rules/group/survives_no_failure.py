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

from advisor.engine.facts.group import Members
from advisor.engine.observation import Observation
from advisor.engine.outcome import Finding, Item, Message, Passed, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import inspected as inspection
from advisor.engine.scene import scene
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


def _group(
    *states: str, roles: str = "PSS", versions: tuple[str, ...] = ("8.0.33",) * 5, **variables: object
) -> Observation:
    """A group with members in these states, the first of them this server; P and S are their roles."""
    words = {"P": "PRIMARY", "S": "SECONDARY", "-": ""}
    members = [
        {
            "host": f"db{index}",
            "port": "3306",
            "state": state,
            "role": words[roles[index]],
            "version": versions[index],
            "is_me": "1" if index == 0 else "0",
        }
        for index, state in enumerate(states)
    ]
    return scene(
        "mysql 8.0.33",
        {"group_replication_group_name": "aaaaaaaa-0000-0000-0000-000000000000", **variables},
        inspection=inspection(group_members=members),
    )


rule.fires("Alone", _group("ONLINE"))
rule.fires("Two", _group("ONLINE", "ONLINE"))
rule.fires("Four", _group("ONLINE", "ONLINE", "ONLINE", "ONLINE", roles="PSSS"))
rule.passes("Three", _group("ONLINE", "ONLINE", "ONLINE"))
rule.passes("This member is stopped: it sees nobody", _group("OFFLINE", roles="-"))
rule.passes("Five", _group("ONLINE", "ONLINE", "ONLINE", "ONLINE", "RECOVERING", roles="PSSSS"))
