"""Passwords at rest."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from collector import vault
from collector.models import Credential
from collector.secret import Secret
from collector.servers import add_server, set_credential

OLD = base64.urlsafe_b64encode(b"o" * 32).decode()
NEW = base64.urlsafe_b64encode(b"n" * 32).decode()
PLACE = {"team_id": "t1", "server_id": "s1", "purpose": "observe"}


def test_a_sealed_password_opens_where_it_belongs_and_nowhere_else(settings: Any) -> None:
    settings.CREDENTIAL_KEYS = [NEW]
    sealed, key_id = vault.seal(Secret("canary-77"), **PLACE)
    assert b"canary" not in sealed
    assert len(key_id) == 16
    assert vault.open_sealed(sealed, **PLACE).reveal() == "canary-77"
    assert vault.seal(Secret("canary-77"), **PLACE)[0] != sealed
    for name, other in (("team_id", "t2"), ("server_id", "s2"), ("purpose", "apply")):
        with pytest.raises(vault.VaultError):
            vault.open_sealed(sealed, **{**PLACE, name: other})
    with pytest.raises(vault.VaultError):
        vault.open_sealed(sealed[:-1] + bytes([sealed[-1] ^ 1]), **PLACE)
    with pytest.raises(vault.VaultError):
        vault.open_sealed(b"", **PLACE)


def test_the_key_that_is_missing_is_named(settings: Any) -> None:
    settings.CREDENTIAL_KEYS = [OLD]
    sealed, key_id = vault.seal(Secret("canary"), **PLACE)
    settings.CREDENTIAL_KEYS = [NEW]
    with pytest.raises(vault.VaultError) as caught:
        vault.open_sealed(sealed, name="db1", **PLACE)
    assert key_id in str(caught.value)
    assert "db1" in str(caught.value)
    settings.CREDENTIAL_KEYS = []
    with pytest.raises(vault.VaultError):
        vault.seal(Secret("canary"), **PLACE)
    settings.CREDENTIAL_KEYS = ["short"]
    with pytest.raises(vault.VaultError):
        vault.seal(Secret("canary"), **PLACE)


def make(team: Any, count: int = 3) -> list[Any]:
    return [
        add_server(team=team, name=f"db{number}", host="127.0.0.1", user="w", password=f"pw{number}", unrestricted=True)
        for number in range(count)
    ]


def test_rotation_seals_everything_anew_and_can_be_run_again(team: Any, settings: Any) -> None:
    settings.CREDENTIAL_KEYS = [OLD]
    servers = make(team)
    set_credential(server=servers[0], purpose="apply", user="apply", password="apply-pw")
    settings.CREDENTIAL_KEYS = [NEW, OLD]
    call_command("rotate_credentials")
    settings.CREDENTIAL_KEYS = [NEW]
    assert [vault.password_of(server)[1].reveal() for server in servers] == ["pw0", "pw1", "pw2"]
    assert vault.password_of(servers[0], "apply")[1].reveal() == "apply-pw"
    assert vault.rotate() == vault.Rotation(0, 4, ())


def test_an_interrupted_rotation_goes_on_where_it_stopped(
    team: Any, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.CREDENTIAL_KEYS = [OLD]
    servers = make(team)
    settings.CREDENTIAL_KEYS = [NEW, OLD]
    real, calls = vault.seal, []

    def twice(*args: Any, **kwargs: Any) -> Any:
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return real(*args, **kwargs)

    monkeypatch.setattr(vault, "seal", twice)
    with pytest.raises(KeyboardInterrupt):
        vault.rotate()
    assert Credential.objects.values("key_id").distinct().count() == 2
    assert [vault.password_of(server)[1].reveal() for server in servers] == ["pw0", "pw1", "pw2"]
    monkeypatch.setattr(vault, "seal", real)
    done = vault.rotate()
    assert (done.rotated, done.current) == (2, 1)


def test_a_password_that_cannot_be_opened_is_named_and_the_others_are_rotated(team: Any, settings: Any) -> None:
    settings.CREDENTIAL_KEYS = [OLD]
    servers = make(team)
    broken = Credential.objects.get(server=servers[1])
    Credential.objects.filter(pk=broken.pk).update(sealed=bytes(broken.sealed)[:-1] + b"x")
    settings.CREDENTIAL_KEYS = [NEW, OLD]
    with pytest.raises(CommandError):
        call_command("rotate_credentials")
    settings.CREDENTIAL_KEYS = [NEW]
    assert vault.password_of(servers[0])[1].reveal() == "pw0"
    with pytest.raises(vault.VaultError) as caught:
        vault.password_of(servers[1])
    assert "db1" in str(caught.value)


def test_a_check_at_start_tells_of_keys_that_are_gone(team: Any, settings: Any) -> None:
    settings.CREDENTIAL_KEYS = [OLD]
    make(team, 1)
    assert vault.check() == []
    settings.CREDENTIAL_KEYS = [NEW]
    problems = vault.check()
    assert len(problems) == 1
    assert "put that key back" in problems[0]
