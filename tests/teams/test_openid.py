"""Signing in through an OpenID Connect issuer: who is known comes in, nobody else, and no account is taken over."""

from __future__ import annotations

import http.client
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from advisor.teams import access, invitations, services
from advisor.teams.checks import mapped_groups
from advisor.teams.openid import MappingError, read_mapping
from advisor.teams.roles import Role
from tests.teams.issuer import CLIENT, SECRET, Issuer


@pytest.fixture
def issuer(settings: Any) -> Iterator[Issuer]:
    """An issuer that the settings name."""
    made = Issuer()
    settings.OIDC_ISSUER = made.url
    settings.SOCIALACCOUNT_PROVIDERS = {
        "openid_connect": {
            "OAUTH_PKCE_ENABLED": True,
            "APPS": [
                {
                    "provider_id": "oidc",
                    "name": "Test",
                    "client_id": CLIENT,
                    "secret": SECRET,
                    "settings": {"server_url": made.url},
                }
            ],
        }
    }
    made.person = {"sub": "4711", "preferred_username": "grace", "email": "grace@example.org", "email_verified": True}
    yield made
    made.close()


def come(client: Client, **sent: str) -> Any:
    """The whole way: our button, the issuer's page, our callback."""
    away = client.post(reverse("openid_connect_login", args=["oidc"]), sent)
    assert away.status_code == 302, away.content
    parts = urlsplit(away["Location"])
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=10)
    connection.request("GET", f"{parts.path}?{parts.query}")
    back = urlsplit(connection.getresponse().headers["Location"])
    connection.close()
    assert back.path == reverse("openid_connect_callback", args=["oidc"])
    return client.get(f"{back.path}?{back.query}")


def is_in(client: Client) -> bool:
    return client.get(reverse("account")).status_code == 200


@pytest.mark.ci
def test_a_stranger_gets_a_page_and_no_account(issuer: Issuer, team: Any) -> None:
    client = Client()
    answer = come(client)
    assert answer.status_code == 403
    assert "No team here knows you yet" in answer.content.decode()
    assert not is_in(client)
    assert not User.objects.exists()


@pytest.mark.ci
def test_who_holds_an_invitation_joins_and_comes_back_without_one(issuer: Issuer, team: Any, owner: Any) -> None:
    made = invitations.invite(team=team, email="g@example.org", roles=[Role.EDITOR], actor=owner, now=timezone.now())
    client = Client()
    client.post(reverse("invitation-with-issuer", args=[made.secret]))
    come(client)
    assert is_in(client)
    grace = User.objects.get(username="grace")
    found = access.access_to(grace, team.pk)
    assert found is not None
    assert found.roles == {Role.EDITOR}
    assert grace.email == "grace@example.org"
    assert not grace.has_usable_password()
    assert not services.needs_login_link(user=grace)
    again = Client()
    assert come(again, next="/rules")["Location"] == "/rules"
    assert is_in(again)
    assert User.objects.count() == 2


@pytest.mark.ci
def test_a_mapped_group_lets_in_with_its_roles_and_another_does_not(issuer: Issuer, team: Any, settings: Any) -> None:
    settings.OIDC_TEAMS = ["dba=Databases:editor+approver"]
    issuer.person["groups"] = ["office"]
    assert come(Client()).status_code == 403
    issuer.person["groups"] = ["office", "dba"]
    client = Client()
    come(client)
    assert is_in(client)
    found = access.access_to(User.objects.get(username="grace"), team.pk)
    assert found is not None
    assert found.roles == {Role.EDITOR, Role.APPROVER}


@pytest.mark.ci
def test_nobody_becomes_somebody_else_by_name_or_address(issuer: Issuer, team: Any, owner: Any, settings: Any) -> None:
    settings.OIDC_TEAMS = ["dba=Databases:viewer"]
    owner.email = "grace@example.org"
    owner.save()
    issuer.person.update(preferred_username="OWNER", groups=["dba"], email_verified=False)
    client = Client()
    come(client)
    assert client.session["_auth_user_id"] != str(owner.pk)
    made = User.objects.exclude(pk=owner.pk).get()
    assert made.username == "OWNER-2"
    assert made.email == ""


@pytest.mark.ci
def test_an_answer_to_somebody_else_s_question_is_refused(issuer: Issuer, team: Any, settings: Any) -> None:
    settings.OIDC_TEAMS = ["dba=Databases:viewer"]
    issuer.person["groups"] = ["dba"]
    client = Client()
    answer = client.get(reverse("openid_connect_callback", args=["oidc"]), {"code": "code-0", "state": "planted"})
    assert "You are not logged in" in answer.content.decode()
    assert not is_in(client)


@pytest.mark.parametrize("entry", ["dba", "dba=Databases", "=Databases:viewer", "dba=Databases:king", "dba=:viewer"])
def test_a_mapping_that_cannot_be_read_says_so(entry: str) -> None:
    with pytest.raises(MappingError, match="TIDEMARK_OIDC_TEAMS"):
        read_mapping([entry])


def test_a_mapping_that_cannot_be_read_stops_the_start(settings: Any) -> None:
    settings.OIDC_TEAMS = ["dba=Databases:king"]
    assert [problem.id for problem in mapped_groups(None)] == ["teams.E030"]
    settings.OIDC_TEAMS = ["dba=Databases:editor+approver"]
    assert mapped_groups(None) == []


def test_without_an_issuer_there_is_no_button_and_no_way(db: None) -> None:
    assert b"login/with" not in Client().get(reverse("login")).content
    assert Client().post(reverse("openid_connect_login", args=["oidc"])).status_code == 404
