"""The page of a team's webhooks: its admins only, the secret once, what a delivery came to."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client

from advisor.changes import webhooks_delivery
from advisor.changes.models import Delivery, Webhook
from advisor.teams.models import Team
from collector.vault import open_sealed

from .test_webhooks import NOW, Receiver, announced, change, hook, receiver

__all__ = ["change", "receiver"]  # fixtures


@pytest.fixture
def admin(owner: Any) -> Client:
    client = Client()
    client.force_login(owner)
    return client


def page(team: Team) -> str:
    return f"/teams/{team.pk}/webhooks"


def test_the_secret_is_shown_once_and_signs_what_is_sent(admin: Client, team: Team) -> None:
    made = admin.post(page(team), {"name": "chat", "url": "http://127.0.0.1:9/x", "states": ["kept", "approved"]})
    found = re.search(r"tmwh_[A-Za-z0-9_-]{43}", made.content.decode())
    assert found is not None
    webhook = Webhook.objects.get()
    opened = open_sealed(webhook.sealed, team_id=team.pk, server_id=webhook.pk, purpose="webhook")
    assert opened.reveal() == found.group()
    assert webhook.states == ["approved", "kept"]
    assert made["Cache-Control"].startswith("max-age=0")
    again = admin.get(page(team)).content.decode()
    assert "tmwh_" not in again
    assert "approved, kept" in again


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"name": "", "url": "https://example.test"}, "required"),
        ({"name": "x", "url": "ftp://example.test"}, "This is not an address"),
        ({"name": "x", "url": "https://169.254.169.254/"}, "metadata"),
        ({"name": "x", "url": "https://example.test", "states": ["none"]}, "none"),
    ],
)
def test_what_cannot_be_is_told_at_its_field(admin: Client, team: Team, given: dict[str, Any], said: str) -> None:
    answer = admin.post(page(team), given)
    assert answer.status_code == 422
    assert said in answer.content.decode()
    assert not Webhook.objects.exists()


def test_an_admin_of_the_team_alone_names_no_loopback(team: Team, person: Any) -> None:
    from advisor.teams.roles import Role

    client = Client()
    client.force_login(person("lead", team, Role.ADMIN))
    answer = client.post(page(team), {"name": "x", "url": "https://127.0.0.1/x"})
    assert (answer.status_code, Webhook.objects.count()) == (422, 0)


def test_what_became_of_deliveries_stands_there(
    admin: Client, team: Team, owner: Any, change: Any, receiver: Receiver
) -> None:
    hook(team, owner, receiver.url)
    receiver.status, receiver.body = 503, b"<script>alert(1)</script>"
    one = announced(change)
    assert "waiting" in admin.get(page(team)).content.decode()
    webhooks_delivery.deliver(delivery_id=one.pk, now=NOW)
    shown = admin.get(page(team)).content.decode()
    assert "1 attempt in vain" in shown
    assert "<script>alert" not in shown
    assert "&lt;script&gt;alert" in shown
    receiver.status = 204
    webhooks_delivery.deliver(delivery_id=one.pk, now=Delivery.objects.get().due_at)
    assert "delivered, 204" in admin.get(page(team)).content.decode()


def test_it_is_paused_resumed_and_deleted_by_its_own_team_only(
    admin: Client, team: Team, other_team: Team, owner: Any, outsider: Any
) -> None:
    webhook = hook(team, owner, "http://127.0.0.1:9/x").webhook
    stranger = Client()
    stranger.force_login(outsider)
    for where in (team, other_team):
        assert stranger.post(f"{page(where)}/{webhook.pk}/delete").status_code == 404
    admin.post(f"{page(team)}/{webhook.pk}/set", {"enabled": "no"})
    assert not Webhook.objects.get().enabled
    admin.post(f"{page(team)}/{webhook.pk}/set", {"enabled": "yes"})
    assert Webhook.objects.get().enabled
    assert admin.post(f"{page(team)}/{webhook.pk}/delete").status_code == 302
    assert not Webhook.objects.exists()
