"""A member of the replication group does not take part.

Why it matters
    A member in ERROR or OFFLINE applies nothing: who reads from it sees old data, and the group has one member less
    to lose. One that others see as UNREACHABLE may be cut off; one in RECOVERING catches up and must not be read from
    yet.

How it is computed
    replication_group_members tells another state than ONLINE. ERROR and OFFLINE are critical where it is this server,
    else a warning; RECOVERING is a notice.

When to dismiss it
    The member is being restarted or added just now.
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
        "https://dev.mysql.com/doc/refman/8.4/en/group-replication-replication-group-members.html",
        "https://dev.mysql.com/doc/refman/8.4/en/group-replication.html",
    ],
)


@rule.check
def check(group: Members) -> Finding | Passed:
    items = []
    for member in group.members:
        if member.state == "ONLINE":
            continue
        severity = Severity.WARNING
        if member.state == "RECOVERING":
            severity = Severity.NOTICE
        elif member.is_me and member.state in ("ERROR", "OFFLINE"):
            severity = Severity.CRITICAL
        items.append(
            Item(
                message=Message(
                    "Group member {member} is {state}",
                    {
                        "member": Quantity("here" if member.is_me else member.address, Unit.TEXT),
                        "state": Quantity(member.state or "unknown", Unit.TEXT),
                    },
                ),
                evidence=group.measured(),
                proposal=(
                    Investigate(
                        "Read its error log: a transaction that failed to apply, missing GTIDs, or the network. Mend "
                        "the "
                        "cause, then START GROUP_REPLICATION on it; a member whose data differ is cloned again."
                    ),
                ),
                subject="this member" if member.is_me else member.address,
                severity=severity,
                expected=Message("All members apply what the group commits."),
                would_change_our_mind=Message("A member that is being restarted or added."),
            )
        )
    return Finding(tuple(items)) if items else Passed(group.measured())


rule.fires("This member failed", made_group("ERROR", "ONLINE", "ONLINE", roles="SPS"))
rule.fires("Another one catches up", made_group("ONLINE", "RECOVERING", "ONLINE"))
rule.passes("All are online", made_group("ONLINE", "ONLINE", "ONLINE"))
