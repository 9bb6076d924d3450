"""A group with one primary by its settings has several, or none.

Why it matters
    In single-primary mode all writes go to one member, and the others refuse them. With none nobody accepts writes;
    with several, rows are changed in two places although the applications and the router count on one.

How it is computed
    group_replication_single_primary_mode is ON, at least one member is ONLINE, and the number of members with the
    role PRIMARY is not one.

When to dismiss it
    An election is going on and is over within seconds.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.facts.group import Members
from advisor.engine.observation import Observation
from advisor.engine.outcome import Finding, Item, Measured, Message, Passed, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import inspected as inspection
from advisor.engine.scene import scene
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import Investigate


@dataclass(frozen=True)
class Mode(Settings):
    """Whether there is to be one primary."""

    group_replication_single_primary_mode: bool


rule = Rule(
    __name__,
    severity=Severity.CRITICAL,
    applies_to=["mysql>=8.0"],
    since="0.2",
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/group-replication-single-primary-mode.html",
        "https://dev.mysql.com/doc/refman/8.4/en/group-replication-replication-group-members.html",
    ],
)


@rule.check
def check(group: Members, mode: Mode) -> Finding | Passed:
    primaries = group.primaries
    figures = (*mode.measured(), Measured("primaries", primaries, Unit.COUNT, None, "replication_group_members"))
    if not mode.group_replication_single_primary_mode or primaries == 1 or not group.counted("ONLINE"):
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message(
                    "The group is to have one primary and has {count}", {"count": Quantity(primaries, Unit.COUNT)}
                ),
                evidence=figures,
                proposal=(
                    Investigate(
                        "Compare replication_group_members on all members: where they disagree there are two groups. "
                        "Stop "
                        "writes, find the member with the most transactions, and let the others join it again."
                    ),
                ),
                expected=Message("All writes go to one member."),
                would_change_our_mind=Message("An election that is over within seconds."),
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


rule.fires("Two", _group("ONLINE", "ONLINE", "ONLINE", roles="PPS", group_replication_single_primary_mode="ON"))
rule.fires("None", _group("ONLINE", "ONLINE", "ONLINE", roles="SSS", group_replication_single_primary_mode="ON"))
rule.passes("One", _group("ONLINE", "ONLINE", "ONLINE", group_replication_single_primary_mode="ON"))
rule.passes(
    "All of them on purpose",
    _group("ONLINE", "ONLINE", "ONLINE", roles="PPP", group_replication_single_primary_mode="OFF"),
)
