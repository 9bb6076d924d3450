"""What each service leaves in the audit, and that without the audit it does nothing."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command

from advisor.journal.models import Event
from advisor.recommendations import rule_settings
from advisor.recommendations import services as recommending
from advisor.recommendations.models import Recommendation, RuleSetting, State
from advisor.teams import services as people
from advisor.teams.audit_chain import AuditError
from advisor.teams.models import ApiToken, AuditEntry, Membership
from advisor.teams.roles import Role
from collector import inspecting, servers
from collector.models import Credential, InspectionRequest, Server

from ..recommendations.building import Judging, found, switched_off

NOW = datetime(2026, 11, 22, 1, 0, tzinfo=UTC)
RULE = "redo.redo-log-undersized"


class World:
    """What services are called on."""

    def __init__(self, team: Any, owner: User, server: Any) -> None:
        self.team, self.owner, self.server = team, owner, server

    @property
    def recommendation(self) -> Recommendation:
        return Recommendation.objects.get(server=self.server)


@pytest.fixture
def world(team: Any, owner: User, watched: Any) -> World:
    Judging(watched)(found())
    servers.set_credential(server=watched, password="canary-apply", user="changer", purpose="apply", actor=owner)
    switched_off(team, "redo.log-buffer-too-small")
    return World(team, owner, watched)


def _acknowledged(world: World) -> Recommendation:
    Recommendation.objects.update(state=State.ACKNOWLEDGED)
    return world.recommendation


#: What is done, the action that tells it, and what is asked of the database to see that it was not done.
DONE: dict[str, tuple[Callable[[World], object], str, Callable[[], object]]] = {
    "a server is added": (
        lambda w: servers.add_server(
            team=w.team,
            name="beta",
            host="127.0.0.1",
            user="u",
            password="canary-new",
            unrestricted=True,
            actor=w.owner,
        ),
        "server.added",
        lambda: Server.objects.count(),
    ),
    "a server is changed": (
        lambda w: servers.update_server(server=w.server, tags=["prod"], actor=w.owner),
        "server.changed",
        lambda: list(Server.objects.values_list("tags", flat=True)),
    ),
    "a server is sent elsewhere": (
        lambda w: servers.update_server(server=w.server, port=3310, password="canary-else", actor=w.owner),
        "server.changed",
        lambda: list(Credential.objects.order_by("pk").values_list("purpose", "sealed")),
    ),
    "a password is set": (
        lambda w: servers.set_credential(server=w.server, password="canary-set", actor=w.owner),
        "credential.changed",
        lambda: list(Credential.objects.order_by("pk").values_list("purpose", "sealed")),
    ),
    "a server is paused": (
        lambda w: servers.set_enabled(server=w.server, enabled=False, actor=w.owner),
        "server.paused",
        lambda: list(Server.objects.values_list("enabled", flat=True)),
    ),
    "a server is deleted": (
        lambda w: servers.delete_server(server=w.server, actor=w.owner),
        "server.deleted",
        lambda: Server.objects.count(),
    ),
    "an inspection is asked for": (
        lambda w: inspecting.request_inspection(server=w.server, actor=w.owner),
        "server.inspection_requested",
        lambda: InspectionRequest.objects.count(),
    ),
    "a recommendation is acknowledged": (
        lambda w: recommending.acknowledge(recommendation=w.recommendation, actor=w.owner, now=NOW),
        "recommendation.acknowledged",
        lambda: list(Recommendation.objects.values_list("state", flat=True)),
    ),
    "a recommendation is dismissed": (
        lambda w: recommending.dismiss(
            recommendation=w.recommendation, actor=w.owner, reason="known", until=None, now=NOW
        ),
        "recommendation.dismissed",
        lambda: list(Recommendation.objects.values_list("dismissed_reason", flat=True)),
    ),
    "a recommendation is reopened": (
        lambda w: recommending.reopen(recommendation=_acknowledged(w), actor=w.owner, now=NOW),
        "recommendation.reopened",
        lambda: set(Recommendation.objects.values_list("state", flat=True)) - {State.ACKNOWLEDGED, State.OPEN},
    ),
    "a rule is switched off": (
        lambda w: rule_settings.set_rule(
            team=w.team, rule_id=RULE, off=True, reason="as agreed", actor=w.owner, now=NOW
        ),
        "rule.switched_off",
        lambda: RuleSetting.objects.count(),
    ),
    "a rule counts again": (
        lambda w: rule_settings.clear_rule(setting=RuleSetting.objects.get(), actor=w.owner, now=NOW),
        "rule.setting_cleared",
        lambda: RuleSetting.objects.count(),
    ),
    "a person is made": (
        lambda w: people.create_user(name="new", team=w.team, roles=[Role.EDITOR]),
        "member.role_given",
        lambda: (User.objects.count(), Membership.objects.count()),
    ),
    "a token is made": (
        lambda w: people.create_token(user=w.owner, name="t"),
        "token.created",
        lambda: ApiToken.objects.count(),
    ),
}


@pytest.mark.parametrize("what", DONE)
def test_what_is_done_is_recorded_with_who_did_it(world: World, what: str) -> None:
    do, action, _ = DONE[what]
    before = AuditEntry.objects.count()
    do(world)
    told = list(AuditEntry.objects.order_by("sequence")[before:])
    assert action in [one.action for one in told]
    if not action.startswith(("member.", "token.")):  # these services act for whoever the request is of
        assert {(one.actor_name, one.team_name) for one in told} == {("owner", "Databases")}
    assert "canary" not in "".join(one.subject + one.data for one in told)


@pytest.mark.parametrize("what", DONE)
def test_without_an_audit_it_is_not_done(world: World, what: str, settings: Any) -> None:
    do, _, seen = DONE[what]
    before, events = seen(), Event.objects.count()
    settings.AUDIT_KEYS = ["no key"]
    with pytest.raises(AuditError):
        do(world)
    assert (seen(), Event.objects.count()) == (before, events)


def test_an_account_for_applying_that_falls_with_a_new_address_is_told(world: World) -> None:
    before = AuditEntry.objects.count()
    DONE["a server is sent elsewhere"][0](world)
    told = AuditEntry.objects.order_by("sequence")[before:]
    assert [one.action for one in told] == ["credential.changed", "credential.removed", "server.changed"]
    assert '"purpose":"apply","server"' in told[1].data


def test_a_command_is_told_with_the_account_of_the_machine(team: Any, db: None) -> None:
    call_command("add_server", "mysql://u@127.0.0.1:1", "--name", "a", "--no-test")
    told = AuditEntry.objects.get(action="server.added")
    assert told.origin == "command"
    assert told.actor_name.endswith("(command line)")


def test_a_request_is_told_with_its_id_and_address(client: Any, owner: User, watched: Any) -> None:
    client.force_login(owner)
    answer = client.post(f"/s/{watched.pk}/inspect", REMOTE_ADDR="192.0.2.7")
    told = AuditEntry.objects.get(action="server.inspection_requested")
    assert answer["X-Request-ID"] == told.request_id
    assert len(told.request_id) == 16
    assert (told.actor_name, told.origin, told.address) == ("owner", "page", "192.0.2.7")
    assert client.get("/")["X-Request-ID"] != told.request_id


def test_a_program_is_told_as_such(token_of: Callable[[Any], str], client: Any, owner: User, watched: Any) -> None:
    headers = {"Authorization": f"Bearer {token_of(owner)}"}
    client.post(f"/api/v1/servers/{watched.pk}/inspection", headers=headers, content_type="application/json")
    told = AuditEntry.objects.filter(action="server.inspection_requested").first()
    assert told is not None
    assert (told.actor_name, told.origin) == ("owner", "api")
