"""The audit's page and files: who sees what, finding entries, and what hostile names become."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client

from advisor.teams import audit, audit_verify
from advisor.teams.models import AuditEntry
from advisor.teams.roles import Role

AT = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


def written(
    team: Any, action: str, subject: str, *, days: int = 0, actor: User | None = None, **data: Any
) -> AuditEntry:
    return audit.record(
        team_id=team.pk if team else None, action=action, subject=subject, data=data, actor=actor,
        at=AT + timedelta(days=days),
    )  # fmt: skip


@pytest.fixture
def client_of() -> Callable[[User], Client]:
    def make(person: User) -> Client:
        client = Client()
        client.force_login(person)
        return client

    return make


@pytest.fixture
def entries(team: Any, other_team: Any, owner: User, team_mate: User) -> None:
    written(team, "change.approved", "Redo log of alpha", days=1, actor=owner, plan_hash="f00d")
    written(team, "server.added", "beta (b1)", days=2, actor=team_mate)
    written(other_team, "server.added", "secret-of-others", days=3)
    written(None, "session.refused", "an unknown name", days=4)


def shown(client: Client, query: str = "") -> str:
    answer = client.get(f"/audit{query}")
    assert answer.status_code == 200
    return answer.content.decode()


def test_a_member_sees_the_entries_of_the_own_teams_only(
    client_of: Callable[[User], Client], entries: None, team_mate: User
) -> None:
    page = shown(client_of(team_mate))
    assert "Redo log of alpha" in page
    assert "beta (b1)" in page
    assert "secret-of-others" not in page
    assert "an unknown name" not in page


def test_an_administrator_of_tidemark_sees_what_concerns_no_team(
    client_of: Callable[[User], Client], entries: None, owner: User
) -> None:
    page = shown(client_of(owner))
    assert "an unknown name" in page
    assert "secret-of-others" not in page


def test_a_viewer_is_told_which_roles_may(client_of: Callable[[User], Client], entries: None, viewer: User) -> None:
    answer = client_of(viewer).get("/audit")
    assert answer.status_code == 403
    assert "editor" in answer.content.decode()
    for file in ("csv", "jsonl"):
        assert client_of(viewer).get(f"/audit.{file}").status_code == 403


@pytest.mark.parametrize(
    ("query", "seen"),
    [
        ("?action=change", {"Redo log of alpha"}),
        ("?action=server.added", {"beta (b1)"}),
        ("?action=server", {"beta (b1)"}),
        ("?actor=OWNER", {"Redo log of alpha"}),
        ("?subject=redo", {"Redo log of alpha"}),
        ("?from=2026-11-22", {"beta (b1)"}),
        ("?to=2026-11-21&from=2026-11-21", {"Redo log of alpha"}),
        ("?from=nonsense&to=9999-99-99", {"beta (b1)", "Redo log of alpha"}),
        ("?team=of-nobody", set()),
        ("?before=1", set()),
        ("?before=x", {"beta (b1)", "Redo log of alpha"}),
    ],
)
def test_entries_are_found_by_what_whom_who_and_when(
    client_of: Callable[[User], Client], entries: None, team_mate: User, query: str, seen: set[str]
) -> None:
    # What the fixtures did themselves was done just now, not in these days.
    page = shown(client_of(team_mate), query)
    assert {one for one in ("beta (b1)", "Redo log of alpha") if one in page} == seen


def test_pages_follow_each_other_without_a_gap(client_of: Callable[[User], Client], team: Any, team_mate: User) -> None:
    for number in range(120):
        written(team, "test.written", f"number-{number:03d}")
    client, query, found = client_of(team_mate), "?action=test", []
    while query:
        page = client.get(f"/audit{query}")
        found += [one["row"].subject for one in page.context["entries"]]
        query = f"?{page.context['older']}" if page.context["older"] else ""
    assert found == [f"number-{number:03d}" for number in reversed(range(120))]


def test_hostile_names_and_values_stay_text(client_of: Callable[[User], Client], team: Any, team_mate: User) -> None:
    written(
        team, "test.written", "<script>alert(1)</script>", note="</dd><img src=x onerror=alert(1)>", deep={"a": [1]}
    )
    page = shown(client_of(team_mate), "?subject=%3Cscript%3E&actor=%22%3E%3Cscript%3E")
    assert "<script>alert" not in shown(client_of(team_mate))
    assert "<img src=x" not in shown(client_of(team_mate))
    assert '"><script>' not in page


def test_the_line_above_tells_up_to_where_it_was_verified(
    client_of: Callable[[User], Client], entries: None, team_mate: User, settings: Any, tmp_path: Any
) -> None:
    settings.AUDIT_ANCHORS = tmp_path / "anchors"
    client = client_of(team_mate)
    assert "Not verified yet" in shown(client)
    found = audit_verify.verify(now=datetime.now(UTC))
    assert f"verified up to entry {found.last}" in shown(client)
    AuditEntry.objects.filter(action="change.approved").update(subject="else")
    audit_verify.verify(now=datetime.now(UTC))
    page = shown(client)
    assert "The audit is not whole" in page
    assert "its digest does not match" in page


def test_files_hold_what_the_page_was_asked_for_with_digests_and_no_formulas(
    client_of: Callable[[User], Client], entries: None, team: Any, team_mate: User
) -> None:
    written(team, "test.written", "=cmd|' /C calc'!A0", days=5)
    client = client_of(team_mate)
    rows = list(csv.DictReader(io.StringIO(b"".join(client.get("/audit.csv?action=test")).decode())))
    assert [row["subject"] for row in rows] == ["'=cmd|' /C calc'!A0"]
    lines = b"".join(client.get("/audit.jsonl?subject=alpha")).decode().splitlines()
    (told,) = [json.loads(line) for line in lines]
    assert (told["actor"], told["data"], len(told["digest"])) == ("owner", {"plan_hash": "f00d"}, 64)


def test_the_command_writes_the_same_of_all_teams(entries: None) -> None:
    def exported(*arguments: str) -> str:
        out = io.StringIO()
        call_command("export_audit", *arguments, stdout=out)
        return out.getvalue()

    lines = [json.loads(line) for line in exported().splitlines()]
    assert [one["sequence"] for one in lines] == list(range(1, len(lines) + 1))
    assert "secret-of-others" in [one["subject"] for one in lines]
    one = exported("--action", "change", "--from", "2026-11-21", "--to", "2026-11-22", "--format", "csv")
    assert [row["subject"] for row in csv.DictReader(io.StringIO(one))] == ["Redo log of alpha"]


def test_somebody_in_no_team_sees_nothing(client_of: Callable[[User], Client], entries: None) -> None:
    alone = User.objects.create_user("alone")
    assert client_of(alone).get("/audit").status_code == 403


def test_a_role_in_another_team_shows_nothing_of_this_one(
    client_of: Callable[[User], Client], entries: None, person: Callable[..., User], team: Any, other_team: Any
) -> None:
    both = person("both", other_team, Role.ADMIN)
    from advisor.teams import services

    services.add_role(user=both, team=team, role=Role.VIEWER)
    page = shown(client_of(both))
    assert "secret-of-others" in page
    assert "Redo log of alpha" not in page
