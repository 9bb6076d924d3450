"""Members of a replication group run different versions.

Why it matters
    A group speaks the protocol of its oldest member, a primary of a newer version may write what an older one cannot
    apply, and a member of a lower version may not join at all. It is a state for the hours of an upgrade, in which a
    fail-over has fewer places to go.

How it is computed
    replication_group_members tells more than one version.

When to dismiss it
    The group is being upgraded member by member just now.
"""

from __future__ import annotations

from advisor.engine.facts.group import Members
from advisor.engine.observation import Observation
from advisor.engine.outcome import Finding, Item, Measured, Message, Passed, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import inspected as inspection
from advisor.engine.scene import scene
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import Investigate

rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=8.0"],
    since="0.2",
    references=["https://dev.mysql.com/doc/refman/8.4/en/group-replication-online-upgrade-combining-versions.html"],
)


@rule.check
def check(group: Members) -> Finding | Passed:
    versions = sorted({member.version for member in group.members if member.version})
    figures = (
        *group.measured(),
        Measured("versions", ", ".join(versions) or "unknown", Unit.TEXT, None, "replication_group_members"),
    )
    if len(versions) < 2:
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message(
                    "The members of the group run {versions}", {"versions": Quantity(", ".join(versions), Unit.TEXT)}
                ),
                evidence=figures,
                proposal=(
                    Investigate(
                        "Finish the upgrade: secondaries first, the primary last. Then raise the protocol with "
                        "group_replication_set_communication_protocol()."
                    ),
                ),
                expected=Message("Any member can take over."),
                would_change_our_mind=Message("An upgrade that is going on just now."),
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


rule.fires("Two versions", _group("ONLINE", "ONLINE", "ONLINE", versions=("8.0.33", "8.0.33", "8.4.3")))
rule.passes("One version", _group("ONLINE", "ONLINE", "ONLINE"))
