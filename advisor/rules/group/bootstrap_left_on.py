"""A member of the replication group would found a second group at its next start.

Why it matters
    group_replication_bootstrap_group is meant for the one start that founds the group. Left on, the next start of
    group replication on this server does not join the others but founds a group of its own, with the same name: two
    groups take writes, and their data go apart until somebody notices.

How it is computed
    The server is a member of a group and group_replication_bootstrap_group is ON.

When to dismiss it
    The group is being founded at this very moment.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.facts.group import GroupMember
from advisor.engine.observation import Observation
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.mysql.proposal import Investigate


@dataclass(frozen=True)
class Bootstrap(Settings):
    """Whether the next start founds a group."""

    group_replication_bootstrap_group: bool


rule = Rule(
    __name__,
    severity=Severity.CRITICAL,
    applies_to=["mysql>=8.0"],
    since="0.2",
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/group-replication-bootstrap.html",
        "https://dev.mysql.com/doc/refman/8.4/en/group-replication-system-variables.html",
    ],
)


@rule.check
def check(_member: GroupMember, bootstrap: Bootstrap) -> Finding | Passed:
    if not bootstrap.group_replication_bootstrap_group:
        return Passed(bootstrap.measured())
    return Finding(
        (
            Item(
                message=Message("At its next start this member founds a second group instead of joining the others"),
                evidence=bootstrap.measured(),
                proposal=(
                    Investigate(
                        "SET GLOBAL group_replication_bootstrap_group = OFF, and take it out of the option file and of "
                        "what SET PERSIST wrote: RESET PERSIST IF EXISTS group_replication_bootstrap_group."
                    ),
                ),
                expected=Message("A restart joins the group."),
                price=(
                    Price(PriceKind.OVERHEAD, Message("if all members stop, one has to be told to found it again")),
                ),
                would_change_our_mind=Message("A group that is being founded at this moment."),
            ),
        )
    )


def _bootstrap(value: str) -> Observation:
    return scene(
        "mysql 8.0.33",
        {
            "group_replication_group_name": "aaaaaaaa-0000-0000-0000-000000000000",
            "group_replication_bootstrap_group": value,
        },
    )


rule.fires("Left on", _bootstrap("ON"))
rule.passes("Off", _bootstrap("OFF"))
