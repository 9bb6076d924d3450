"""A team with people and a server to change, and change requests on it, all made by services.

The server is a recorded one: reading it "live" answers the recording, with whatever a test says was set meanwhile.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from advisor.changes import reading, services, states
from advisor.changes.live import LiveFacts, from_snapshot
from advisor.changes.models import ChangeRequest, State
from advisor.mysql.snapshot import Snapshot
from advisor.teams import services as teams
from advisor.teams.models import Team
from advisor.teams.roles import Role
from collector import recording, snapshots
from collector.models import Server, StoredSnapshot
from collector.servers import set_credential

from ..conftest import build_server

RECORDED = Path(__file__).parents[1] / "recorded"
MYSQL = "mysql-8.0.33-small-redo"
MARIADB = "mariadb-10.11-small-redo"
NOW = datetime(2026, 11, 22, 3, 0, tzinfo=UTC)


@cache
def snapshot_of(name: str) -> Snapshot:
    """The newest snapshot of a recorded server."""
    return recording.read(RECORDED / name).last


def live_of(name: str = MYSQL, server: Server | None = None, **variables: str) -> LiveFacts:
    """A recorded server as if it were read now, with some variables set to other values."""
    facts = from_snapshot(snapshot_of(name), trust="opportunistic system", host=server.host_facts if server else {})
    return replace(facts, variables={**facts.variables, **variables})


@dataclass
class LiveServers:
    """Stands in for ``reading``: what each server answers when it is read, by its id. An exception is raised."""

    facts: dict[str, LiveFacts | Exception] = field(default_factory=dict)
    reads: list[str] = field(default_factory=list)

    def read_live(self, server: Server, *, purpose: str = "observe", now: datetime) -> LiveFacts:
        self.reads.append(server.pk)
        answer = self.facts[server.pk]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def read_all(self, servers: Sequence[Server], *, now: datetime) -> dict[str, Any]:
        answers: dict[str, Any] = {}
        for server in servers:
            try:
                answers[server.pk] = self.read_live(server, now=now)
            except reading.Unreadable as error:
                answers[server.pk] = error
        return answers

    def set(self, server: Server, **variables: str) -> None:
        """Somebody sets variables of a server by hand."""
        facts = self.facts[server.pk]
        assert isinstance(facts, LiveFacts)
        self.facts[server.pk] = replace(facts, variables={**facts.variables, **variables})

    def become(self, server: Server, **parts: Any) -> None:
        """Parts of who the server is change: ``hostname="db2"``."""
        facts = self.facts[server.pk]
        assert isinstance(facts, LiveFacts)
        self.facts[server.pk] = replace(facts, **parts)

    def fail(self, server: Server, sentence: str = "It does not answer.") -> None:
        """The server cannot be read."""
        self.facts[server.pk] = reading.Unreadable(server, sentence)


@dataclass
class Desk:
    """One team at work: who proposes, who approves, who applies, and one server that they change."""

    team: Team
    author: Any
    reviewer: Any
    operator: Any
    server: Server
    live: LiveServers

    def add_server(self, name: str, recorded: str = MYSQL, **values: Any) -> Server:
        """One more server of the team, with a stored snapshot, an apply account, and an answer when it is read."""
        server: Server = build_server(self.team, name, **values)
        set_credential(server=server, user="apply", password="secret", purpose="apply")
        snapshot = snapshot_of(recorded)
        StoredSnapshot.objects.create(
            server=server,
            slot=int(NOW.timestamp()),
            taken_at=NOW,
            payload=snapshots.pack(snapshot),
        )
        self.live.facts[server.pk] = live_of(recorded, server)
        return server

    def person(self, name: str, *roles: Role, email: str = "") -> Any:
        """One more person of the team."""
        made = teams.create_user(name=name, team=self.team, roles=roles)
        made.email = email or f"{name}@example.test"
        made.save(update_fields=["email"])
        return made


def desk(monkeypatch: pytest.MonkeyPatch) -> Desk:
    """The usual desk. ``author``, ``reviewer`` and ``operator`` are accounts of three people."""
    live = LiveServers()
    monkeypatch.setattr(reading, "read_live", live.read_live)
    monkeypatch.setattr(reading, "read_all", live.read_all)
    made = Desk(teams.ensure_team(name="Databases"), None, None, None, None, live)  # type: ignore[arg-type]
    made.author = made.person("author", Role.EDITOR)
    made.reviewer = made.person("reviewer", Role.APPROVER)
    made.operator = made.person("operator", Role.OPERATOR)
    made.server = made.add_server("alpha")
    return made


def request_for(
    desk: Desk,
    values: Mapping[str, str] | None = None,
    *,
    servers: Sequence[Server] | None = None,
    state: State = State.DRAFT,
    now: datetime = NOW,
    **fields: Any,
) -> ChangeRequest:
    """A change request of the author's, taken by services to the state: draft, in_review, approved or applying.

    ``values`` are variables and what is wanted of them, on each of ``servers`` (the desk's one).
    """
    wanted = [
        services.Change(server=server, variable=name, value=value)
        for server in (servers if servers is not None else [desk.server])
        for name, value in (values or {"innodb_io_capacity": "700"}).items()
    ]
    made = services.create(
        team=desk.team,
        actor=desk.author,
        title=fields.pop("title", "More I/O capacity"),
        reason=fields.pop("reason", "Flushing falls behind at noon."),
        changes=wanted,
        now=now,
        **fields,
    )
    if state == State.DRAFT:
        return made
    made = services.submit(request=made, actor=desk.author, now=now)
    if state == State.IN_REVIEW:
        return made
    assert made.plan is not None
    made = services.review(
        request=made,
        actor=desk.reviewer,
        verdict="approve",
        text="",
        plan_hash=made.plan.hash,
        now=now + timedelta(minutes=1),
    )
    if state == State.APPROVED:
        return made
    assert state == State.APPLYING, f"a request is not built in the state {state}"
    return states.move(request=made, step=states.Step.BEGIN, actor=desk.operator, now=now + timedelta(minutes=2))
