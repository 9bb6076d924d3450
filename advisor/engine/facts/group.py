"""Facts about a member of a MySQL group (Group Replication)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

from advisor.engine import reading
from advisor.engine.declared import inspected, number
from advisor.engine.fact import Basis, Fact
from advisor.engine.observation import Observation
from advisor.engine.outcome import Inapplicable, Measured, Message
from advisor.engine.units import Unit


@dataclass(frozen=True)
class GroupMember(Fact):
    """This server is set up as a member of a group."""

    reads: ClassVar[tuple[str, ...]] = ("group_replication_group_name",)

    @classmethod
    def read(cls, seen: Observation) -> Self:
        if not reading.variable(seen, "group_replication_group_name"):
            raise Inapplicable(Message("This server is no member of a replication group."))
        return cls()


@dataclass(frozen=True)
class Member:
    """One member as this server sees it: ONLINE, RECOVERING, UNREACHABLE, OFFLINE or ERROR; PRIMARY or SECONDARY."""

    address: str
    state: str
    role: str
    version: str
    is_me: bool


@dataclass(frozen=True)
class Members(Fact):
    """All members of the group that this server knows."""

    basis: ClassVar[Basis] = Basis.INSPECTED
    reads: ClassVar[tuple[str, ...]] = ("performance_schema.replication_group_members",)

    members: tuple[Member, ...]

    @classmethod
    def read(cls, seen: Observation) -> Self:
        GroupMember.read(seen)
        rows = inspected(seen, "group_members")
        found = tuple(
            Member(
                address=f"{row.get('host') or ''}:{row.get('port') or ''}",
                state=(row.get("state") or "").upper(),
                role=(row.get("role") or "").upper(),
                version=row.get("version") or "",
                is_me=row.get("is_me") == "1",
            )
            for row in rows
        )
        if not found:
            raise Inapplicable(Message("This server is no member of a replication group."))
        return cls(found)

    def counted(self, state: str) -> int:
        """How many members are in this state."""
        return sum(1 for one in self.members if one.state == state)

    @property
    def primaries(self) -> int:
        return sum(1 for one in self.members if one.role == "PRIMARY")

    def measured(self) -> tuple[Measured, ...]:
        """How many members there are and in which states, as evidence."""
        source = "replication_group_members"
        states = sorted({one.state for one in self.members})
        return (
            Measured("members", len(self.members), Unit.COUNT, None, source),
            *(Measured(f"members {state}", self.counted(state), Unit.COUNT, None, source) for state in states if state),
        )


@dataclass(frozen=True)
class Queue(Fact):
    """Transactions that wait on this member: to be certified, and to be applied."""

    basis: ClassVar[Basis] = Basis.INSPECTED
    reads: ClassVar[tuple[str, ...]] = ("performance_schema.replication_group_member_stats",)

    applier: int
    certification: int

    @classmethod
    def read(cls, seen: Observation) -> Self:
        GroupMember.read(seen)
        rows = inspected(seen, "group_queue")
        if not rows:
            raise Inapplicable(Message("This server is no member of a replication group."))
        return cls(int(number(rows[0], "applier_queue")), int(number(rows[0], "certification_queue")))

    def measured(self) -> tuple[Measured, ...]:
        """Both queues, as evidence."""
        source = "replication_group_member_stats"
        return (
            Measured("transactions waiting to be applied", self.applier, Unit.COUNT, None, source),
            Measured("transactions waiting to be certified", self.certification, Unit.COUNT, None, source),
        )
