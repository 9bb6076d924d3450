"""The account for applying: stored only once a real server let it in, and never shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from advisor.teams.audit import AuditEntry
from collector import vault
from collector.models import Credential
from tests.conftest import build_server
from tests.servers import RunningServer
from tests.servers.fixtures import server as server

pytestmark = pytest.mark.django_db


@pytest.fixture
def place(team: Any, server: RunningServer) -> Any:
    """The machine's own server, registered with the account that observes."""
    made = build_server(team, "real", host="127.0.0.1", port=server.port, unrestricted=True)
    server.sql("CREATE OR REPLACE USER changer@'127.0.0.1' IDENTIFIED BY 'right-canary'")
    return made


def post(client: Client, place: Any, **values: str) -> str:
    address = reverse("server-apply-account", args=[place.pk])
    return str(client.post(address, values, follow=True).content.decode())


def test_it_is_stored_only_once_the_server_let_it_in(place: Any, owner: Any, sign_in: Callable[[Any], Client]) -> None:
    client = sign_in(owner)
    page = client.get(reverse("server-settings", args=[place.pk])).content.decode()
    assert "None: approved changes are offered as statements to copy" in page
    page = post(client, place, user="changer", password="wrong-canary")
    assert "Nothing was stored" in page
    assert not Credential.objects.filter(server=place, purpose="apply").exists()
    page = post(client, place, user="changer", password="right-canary")
    assert "Approved changes are made as changer" in page
    assert "right-canary" not in page
    assert vault.password_of(place, "apply")[1].reveal() == "right-canary"
    page = post(client, place, remove="1")
    assert "The account is forgotten" in page
    assert not Credential.objects.filter(server=place, purpose="apply").exists()
    told = list(AuditEntry.objects.filter(action__startswith="credential.").values_list("action", flat=True))
    assert told[-2:] == ["credential.changed", "credential.removed"]


def test_only_who_sets_policies_sees_and_stores_it(
    place: Any, team_mate: Any, sign_in: Callable[[Any], Client]
) -> None:
    client = sign_in(team_mate)
    page = client.get(reverse("server-settings", args=[place.pk])).content.decode()
    assert "The account for applying" not in page
    answer = client.post(
        reverse("server-apply-account", args=[place.pk]), {"user": "changer", "password": "right-canary"}
    )
    assert answer.status_code == 403
    assert not Credential.objects.filter(server=place, purpose="apply").exists()
