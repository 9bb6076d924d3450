"""Servers as they are registered."""

from __future__ import annotations

from typing import Any

import pytest

from advisor.journal.models import Event
from collector import servers
from collector.models import Credential, Server, ServerState, Shard
from collector.servers import InvalidServer, add_server, delete_server, set_enabled, target_of, update_server


def add(team: Any, **values: Any) -> Server:
    given = {"name": "db1", "host": "10.0.0.5", "user": "watch", "password": "canary-pw"}
    return add_server(team=team, **{**given, **values})


def test_a_new_server_is_due_at_once_and_its_password_is_sealed(team: Any, owner: Any) -> None:
    server = add(team, tags=["prod", "eu", "prod"], host_facts={"memory_bytes": 8 << 30, "storage": "ssd"}, actor=owner)
    assert server.tls_mode == "verify-identity"
    assert server.tags == ["prod", "eu"]
    assert server.host_facts == {
        "memory_bytes": {"value": 8 << 30, "origin": "stated"},
        "storage": {"value": "ssd", "origin": "stated"},
    }
    state = ServerState.objects.get(server=server)
    assert (state.fast_slot, state.full_slot) == (0, 0)
    assert b"canary" not in bytes(Credential.objects.get(server=server).sealed)
    target = target_of(server)
    assert target.password.reveal() == "canary-pw"
    assert (target.host, target.port, target.unrestricted) == ("10.0.0.5", 3306, False)
    event = Event.objects.get(kind="server.added")
    assert (event.server_id, event.actor, event.team_id) == (server.pk, owner, team.pk)
    assert "canary" not in str(event.data)


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": "a/b"}, "name"),
        ({"name": "x" * 101}, "name"),
        ({"host": ""}, "host"),
        ({"host": "a b"}, "host"),
        ({"host": "127.0.0.1"}, "host"),
        ({"port": 0}, "port"),
        ({"port": 33060}, "host"),
        ({"host": "", "socket": "relative"}, "socket"),
        ({"host": "", "socket": "/run/x"}, "socket"),
        ({"user": ""}, "user"),
        ({"tls_mode": "whatever"}, "tls_mode"),
        ({"tls_mode": "opportunistic"}, "tls_mode"),
        ({"tls_ca": "no pem"}, "tls_ca"),
        ({"tags": [""]}, "tags"),
        ({"fast_interval_seconds": 1}, "fast_interval_seconds"),
        ({"full_interval_seconds": 5, "fast_interval_seconds": 10}, "full_interval_seconds"),
        ({"host_facts": {"memory_bytes": -1}}, "host_facts"),
        ({"host_facts": {"colour": "red"}}, "host_facts"),
    ],
)
def test_what_cannot_be_registered_names_its_field_and_leaves_nothing_behind(
    team: Any, values: dict[str, Any], field: str
) -> None:
    with pytest.raises(InvalidServer) as caught:
        add(team, **values)
    assert field in caught.value.errors
    assert not Server.objects.exists()
    assert not Event.objects.filter(kind="server.added").exists()


def test_several_wrong_fields_are_told_at_once(team: Any) -> None:
    with pytest.raises(InvalidServer) as caught:
        add(team, name="", tags=[""], fast_interval_seconds=0)
    assert set(caught.value.errors) == {"name", "tags", "fast_interval_seconds"}


def test_names_are_unique_in_a_team_whatever_their_case(team: Any, other_team: Any) -> None:
    add(team, name="Straße 1")
    add(other_team, name="Straße 1")
    with pytest.raises(InvalidServer) as caught:
        add(team, name="STRASSE  1")
    assert "name" in caught.value.errors


def test_shards_fill_evenly_and_a_new_one_opens_when_all_are_full(team: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(servers, "SERVERS_PER_SHARD", 2)
    made = [add(team, name=f"db{number}") for number in range(5)]
    assert [server.shard_id for server in made] == [0, 0, 1, 1, 2]
    delete_server(server=made[0])
    assert add(team, name="again").shard_id in {0, 2}
    assert Shard.objects.count() == 3


def test_the_password_is_asked_again_when_it_would_be_sent_elsewhere(team: Any) -> None:
    server = add(team)
    for change in ({"host": "10.0.0.6"}, {"user": "other"}, {"tls_mode": "insecure"}, {"port": 3307}):
        with pytest.raises(InvalidServer) as caught:
            update_server(server=server, **change)
        assert "password" in caught.value.errors
    assert update_server(server=server, name="renamed", tags=["x"]).name == "renamed"
    moved = update_server(server=server, host="10.0.0.6", password="canary-2")
    assert target_of(moved).password.reveal() == "canary-2"


def test_an_apply_account_does_not_move_with_the_server(team: Any) -> None:
    server = add(team)
    servers.set_credential(server=server, purpose="apply", user="apply", password="apply-pw")
    update_server(server=server, host="10.0.0.6", password="canary-2")
    assert list(Credential.objects.filter(server=server).values_list("purpose", flat=True)) == ["observe"]


def test_a_changed_server_is_tried_again_at_once(team: Any) -> None:
    server = add(team)
    ServerState.objects.filter(server=server).update(failures=7, error="x", error_kind="refused", retry_at=2e9)
    servers.set_credential(server=server, password="new")
    state = ServerState.objects.get(server=server)
    assert (state.failures, state.error, state.retry_at) == (0, "", 0)


def test_a_deleted_server_takes_its_password_along_and_stays_in_the_journal(team: Any, owner: Any) -> None:
    server = add(team)
    pk = server.pk
    set_enabled(server=server, enabled=False, actor=owner)
    delete_server(server=server, actor=owner)
    assert not Credential.objects.filter(server_id=pk).exists()
    kinds = set(Event.objects.filter(server_id=pk).values_list("kind", flat=True))
    assert kinds == {"server.added", "server.paused", "server.deleted"}


def test_an_unknown_field_is_a_mistake_of_the_caller(team: Any) -> None:
    with pytest.raises(TypeError):
        update_server(server=add(team), colour="red")
