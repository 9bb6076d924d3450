"""What all tests share: the settings they run under, people known by their role, and builders that go through services.

`./check --ci` and `--all` set TIDEMARK_CHECK and with it which of the longer tests are collected.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Callable
from typing import Any

import pytest

_WANTED = {"": set(), "quick": set(), "ci": {"ci"}, "all": {"ci", "matrix"}}


def pytest_configure(config: pytest.Config) -> None:
    """Quick unless TIDEMARK_CHECK says otherwise; an explicit -m on the command line wins."""
    wanted = _WANTED.get(os.environ.get("TIDEMARK_CHECK", ""))
    if wanted is None:
        raise pytest.UsageError("TIDEMARK_CHECK is one of quick, ci, all")
    if wanted and config.option.markexpr == "not ci and not matrix":
        config.option.markexpr = " and ".join(f"not {marker}" for marker in ("ci", "matrix") if marker not in wanted)


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> None:
    """Without the triggers that refuse to delete from the audit: tests with real transactions empty all tables."""
    from django.db import connection

    from advisor.teams import audit_triggers

    with django_db_blocker.unblock():
        audit_triggers.remove(connection)


@pytest.fixture(autouse=True)
def quick_settings(settings: Any) -> None:
    """Static files as they lie, since tests do not collect them; keys of their own; cheap hashing; no broker to wait
    for.

    Settings were read before this file, so that what a developer has in var/ has to be put aside here.
    """
    settings.CREDENTIAL_KEYS = [base64.urlsafe_b64encode(b"k" * 32).decode()]
    settings.AUDIT_KEYS = [base64.urlsafe_b64encode(b"a" * 32).decode()]
    settings.BASE_URL = "http://127.0.0.1:8000"
    settings.ALLOWED_HOSTS = ["testserver", "127.0.0.1", "localhost"]
    settings.STORAGES = {
        **settings.STORAGES,
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
    }
    settings.STATIC_ROOT = settings.BASE_DIR / "tests"  # a folder that exists: whitenoise warns of any other
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    settings.SECURE_SSL_REDIRECT = False


@pytest.fixture
def team(db: None) -> Any:
    """The team that owns what a test builds."""
    from advisor.teams import services

    return services.ensure_team(name="Databases")


@pytest.fixture
def other_team(db: None) -> Any:
    """A team that has nothing to do with it."""
    from advisor.teams import services

    return services.ensure_team(name="Others")


@pytest.fixture
def person(db: None) -> Callable[..., Any]:
    """``person("name", team, Role.EDITOR)``: a person with these roles in the team."""
    from advisor.teams import services

    def make(name: str, team: Any, *roles: Any, administrator: bool = False) -> Any:
        return services.create_user(name=name, team=team, roles=roles, administrator=administrator)

    return make


@pytest.fixture
def owner(person: Callable[..., Any], team: Any) -> Any:
    """Administrator of the team and of Tidemark."""
    return person("owner", team, administrator=True)


@pytest.fixture
def team_mate(person: Callable[..., Any], team: Any) -> Any:
    """An editor of the same team."""
    from advisor.teams.roles import Role

    return person("mate", team, Role.EDITOR)


@pytest.fixture
def viewer(person: Callable[..., Any], team: Any) -> Any:
    """Somebody who may look and no more."""
    from advisor.teams.roles import Role

    return person("viewer", team, Role.VIEWER)


@pytest.fixture
def outsider(person: Callable[..., Any], other_team: Any) -> Any:
    """An administrator, but of another team."""
    from advisor.teams.roles import Role

    return person("outsider", other_team, Role.ADMIN)


@pytest.fixture
def token_of() -> Callable[[Any], str]:
    """``token_of(person)``: an API token that speaks for the person."""
    from advisor.teams import services

    return lambda user: services.create_token(user=user, name="tests").text


@pytest.fixture
def watched(team: Any) -> Any:
    """A registered server of the team that nobody polls. Nothing listens at its address."""
    return build_server(team, "alpha")


def build_server(team: Any, name: str, **values: Any) -> Any:
    """A registered server, by the collector's own service."""
    from collector import servers

    return servers.add_server(
        team=team,
        name=name,
        **{"host": "127.0.0.1", "port": 1, "user": "tidemark", "password": "secret", "unrestricted": True, **values},
    )
