"""Approved change requests on real servers: the way from a team at work to a statement on a running server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from advisor.changes import applying, planning, policies, reading, states
from advisor.changes.models import Application, ChangeRequest, Plan, Review, State, WantedChange
from advisor.mysql.grants import apply_privileges
from advisor.mysql.values import same
from advisor.mysql.version import identify
from advisor.teams import audit
from advisor.teams import services as teams
from advisor.teams.roles import Role
from collector.models import Server
from collector.servers import set_credential
from tests.conftest import build_server
from tests.servers import RunningServer


def grants_for(server: RunningServer) -> str:
    """What applying needs there, and nothing more."""
    comment = "MariaDB" if server.flavor == "mariadb" else "MySQL"
    version = identify(server.value("VERSION()") or "", comment, variables={"version_comment": comment})
    schema = "; SELECT ON performance_schema.*" if version.is_mysql and version.number >= (8, 0, 0) else ""
    return "; ".join(apply_privileges(version)) + schema


@dataclass
class Shop:
    """A team that changes real servers. ``rows`` are their registrations by the servers' names."""

    team: Any
    author: Any
    reviewer: Any
    operator: Any
    rows: dict[str, Server] = field(default_factory=dict)

    def register(self, server: RunningServer, name: str = "alpha", *, with_apply: bool = True) -> Server:
        """Registers a running server with an observe account and, where asked for, an apply account of few rights."""
        have = {user for (user,) in server.sql("SELECT DISTINCT user FROM mysql.user")}
        for account, grants in (("watcher", "ALL"), ("applier", grants_for(server))):
            if account not in have:
                server.client_user(account, grants)
        row: Server = build_server(
            self.team, name, host="127.0.0.1", port=server.port, user="watcher", password=server.password
        )
        if with_apply:
            set_credential(server=row, user="applier", password=server.password, purpose="apply")
        self.rows[name] = row
        return row

    def approved(
        self,
        wanted: Mapping[str, Mapping[str, str]],
        *,
        policy: Mapping[str, Any] | None = None,
        wait_seconds: int = 0,
        **fields: Any,
    ) -> ChangeRequest:
        """A request with a plan made of what the servers are now, approved by another person."""
        now = timezone.now()
        number = ChangeRequest.objects.filter(team=self.team).count() + 1
        request = ChangeRequest.objects.create(
            team=self.team, number=number, title="A change", author=self.author, author_name="author",
            last_editor=self.author, created_at=now, changed_at=now, state=State.APPROVED, **fields,
        )  # fmt: skip
        demands = {**policies.DEFAULT, **(policy or {})}
        parts = []
        for name, values in wanted.items():
            row = self.rows[name]
            for variable, value in values.items():
                WantedChange.objects.create(request=request, server=row, variable=variable, value=value)
            facts = reading.read_live(row, now=now)
            parts.append(
                planning.Part(
                    row.pk, row.name, row.address, facts, tuple(planning.Wanted(*one) for one in values.items())
                )
            )
        document = planning.build(
            request=request.pk, title=request.title, made_at=now, expires_at=now + timedelta(hours=24), parts=parts,
            policy=demands, first=parts[0].server, wait_seconds=wait_seconds,
        )  # fmt: skip
        return self.with_plan(request, document, now)

    def with_plan(self, request: ChangeRequest, document: dict[str, Any], now: datetime) -> ChangeRequest:
        """Gives the request this plan, approved by the reviewer."""
        plan = Plan.objects.create(
            request=request, hash=planning.canonical_hash(document), document=document, made_at=now,
            expires_at=now + timedelta(hours=24),
        )  # fmt: skip
        Review.objects.create(
            request=request, plan=plan, person=self.reviewer, person_name="reviewer", at=now,
            verdict=Review.Verdict.APPROVE,
        )  # fmt: skip
        # What no service would have let through is attested here, so that what stands behind the gate is tried.
        audit.record(
            team_id=request.team_id, action="change.approve", subject=f"change {request.number}", at=now,
            data={"change": request.pk, "plan_hash": plan.hash, "verdict": "approve"}, actor=self.reviewer,
        )  # fmt: skip
        ChangeRequest.objects.filter(pk=request.pk).update(plan=plan)
        request.refresh_from_db()
        return request

    def apply(self, request: ChangeRequest) -> ChangeRequest:
        """Begins to apply and works it off, as the workers would."""
        applying.begin(request=request, actor=self.operator, now=timezone.now())
        return self.work(request)

    def roll_back(self, request: ChangeRequest) -> ChangeRequest:
        request.refresh_from_db()
        applying.roll_back(request=request, actor=self.operator, now=timezone.now())
        return self.work(request)

    def work(self, request: ChangeRequest, *, times: int = 6) -> ChangeRequest:
        """Runs whatever waits, in the order of its turns."""
        for _ in range(times):
            for application in Application.objects.filter(request=request, state=Application.State.WAITING):
                applying.run(application.pk)
        request.refresh_from_db()
        return request

    def begun(self, request: ChangeRequest) -> Application:
        """The request as APPLYING with its first application waiting."""
        return applying.begin(request=request, actor=self.operator, now=timezone.now())[0]


def shop() -> Shop:
    """A team with an author, a reviewer and an operator, who are three people."""
    team = teams.ensure_team(name="Databases")
    made = []
    for name, role in (("author", Role.EDITOR), ("reviewer", Role.APPROVER), ("operator", Role.OPERATOR)):
        person = teams.create_user(name=name, team=team, roles=[role])
        person.email = f"{name}@example.test"
        person.save(update_fields=["email"])
        made.append(person)
    author, reviewer, operator = made
    return Shop(team, author, reviewer, operator)


def globals_of(server: RunningServer, names: Sequence[str]) -> dict[str, str]:
    """Global values by name, as the server prints them."""
    return {name: server.value(f"@@GLOBAL.`{name}`") or "" for name in names}


def has(server: RunningServer, values: Mapping[str, str]) -> bool:
    """Whether the server has these global values."""
    return all(same(server.value(f"@@GLOBAL.`{name}`") or "", value) for name, value in values.items())


def persisted_of(server: RunningServer) -> dict[str, str] | None:
    """What SET PERSIST keeps; None where the server has no such thing."""
    if server.flavor != "mysql" or server.version.startswith("5."):
        return None
    rows = server.sql("SELECT VARIABLE_NAME, VARIABLE_VALUE FROM performance_schema.persisted_variables")
    return {str(name): str(value) for name, value in rows}


__all__ = ["Shop", "globals_of", "has", "persisted_of", "shop", "states"]
