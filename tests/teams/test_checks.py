"""System checks say with an id and a hint what would hurt later."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.apps.registry import Apps
from django.db import models

from advisor.teams import checks


def ids(messages: list[Any]) -> list[str]:
    assert all(message.hint for message in messages)
    return [message.id for message in messages]


def test_a_key_that_dies_with_the_process_is_an_error(settings: Any) -> None:
    settings.SECRET_KEY_IS_LASTING = False
    assert ids(checks.lasting_secret_key(None)) == ["teams.E001"]
    settings.SECRET_KEY_IS_LASTING = True
    assert ids(checks.lasting_secret_key(None)) == []


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ([], ["teams.E002"]),
        (["short"], ["teams.E003"]),
        (["é" * 10], ["teams.E003"]),
        ([base64.urlsafe_b64encode(b"k" * 32).decode()], []),
    ],
)
def test_credential_keys_are_there_and_whole(settings: Any, keys: list[str], expected: list[str]) -> None:
    settings.CREDENTIAL_KEYS = keys
    messages = checks.credential_keys(None)
    assert ids(messages) == expected
    assert not any(key and key in str(message) for key in keys for message in messages)


def test_key_files_that_others_can_read_are_errors(settings: Any, tmp_path: Path) -> None:
    settings.DATA = tmp_path
    folder = tmp_path / "keys"
    folder.mkdir(mode=0o700)
    key = folder / "secret_key"
    key.write_text("k")
    key.chmod(0o644)
    assert ids(checks.private_files(None)) == ["teams.E004"]
    key.chmod(0o600)
    assert ids(checks.private_files(None)) == []
    folder.chmod(0o755)
    assert ids(checks.private_files(None)) == ["teams.E004"]


@pytest.mark.parametrize(
    ("broker", "expected"),
    [
        ("redis://queue.example:6379/0", ["teams.E005"]),
        ("redis://:secret@queue.example:6379/0", []),
        ("redis://127.0.0.1:6379/0", []),
        ("rediss://queue.example:6379/0", []),
        ("redis+socket:///run/redis.sock", []),
    ],
)
def test_a_broker_that_anybody_can_write_to_is_an_error(settings: Any, broker: str, expected: list[str]) -> None:
    settings.BROKER_URL = broker
    assert ids(checks.guarded_broker(None)) == expected


def test_our_tables_have_no_constraint_that_mysql_would_leave_out() -> None:
    assert ids(checks.constraints_that_every_database_enforces(None)) == []


def test_a_conditional_constraint_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    class Bad(models.Model):
        name = models.CharField(max_length=10)

        class Meta:
            app_label = "teams"
            apps = Apps()
            constraints = [
                models.UniqueConstraint(fields=["name"], condition=models.Q(name="x"), name="sometimes_unique")
            ]
            indexes = [models.Index(fields=["name"], condition=models.Q(name="x"), name="sometimes_indexed")]

        def __str__(self) -> str:
            return self.name

    Bad.__module__ = "advisor.teams.models"
    monkeypatch.setattr(apps, "get_models", lambda: [Bad])
    assert ids(checks.constraints_that_every_database_enforces(None)) == ["teams.E006", "teams.E007"]
