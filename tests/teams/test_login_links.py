"""A login link signs one person in, once, for half an hour, by one GET."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from advisor.teams import services
from advisor.teams.models import LoginLink


def follow(client: Client, secret: str) -> Any:
    return client.get(reverse("login-link", args=[secret]))


def test_one_get_signs_in_and_leads_to_the_first_page(client: Client, viewer: Any) -> None:
    secret = services.create_login_link(user=viewer, now=timezone.now())
    answer = follow(client, secret)
    assert (answer.status_code, answer["Location"]) == (302, "/")
    assert client.session["_auth_user_id"] == str(viewer.pk)
    assert "no-store" in answer["Cache-Control"]


def test_the_session_that_was_there_before_is_worth_nothing_afterwards(client: Client, viewer: Any) -> None:
    client.session.save()
    planted = client.session.session_key
    follow(client, services.create_login_link(user=viewer, now=timezone.now()))
    assert client.session.session_key != planted


def test_a_second_use_signs_nobody_in(client: Client, viewer: Any) -> None:
    secret = services.create_login_link(user=viewer, now=timezone.now())
    follow(client, secret)
    stranger = Client()
    answer = follow(stranger, secret)
    assert answer.status_code == 410
    assert "_auth_user_id" not in stranger.session


def test_used_and_expired_and_unknown_links_get_one_and_the_same_page(viewer: Any) -> None:
    now = timezone.now()
    used = services.create_login_link(user=viewer, now=now)
    assert services.redeem_login_link(secret=used, now=now) == viewer
    expired = services.create_login_link(user=viewer, now=now - timedelta(minutes=31))
    pages = []
    for secret in (used, expired, "x" * 43):
        answer = follow(Client(), secret)
        pages.append((answer.status_code, answer.content.replace(secret.encode(), b"")))
    # A nonce in the page differs from request to request; sizes and words must not.
    assert len({(status, len(content)) for status, content in pages}) == 1
    assert pages[0][0] == 410


def test_a_link_works_for_thirty_minutes(viewer: Any) -> None:
    now = timezone.now()
    early, late = (services.create_login_link(user=viewer, now=now) for _ in range(2))
    assert services.redeem_login_link(secret=early, now=now + timedelta(minutes=29)) == viewer
    assert services.redeem_login_link(secret=late, now=now + timedelta(minutes=30)) is None


def test_a_link_of_somebody_whose_account_is_off_does_nothing(viewer: Any) -> None:
    now = timezone.now()
    secret = services.create_login_link(user=viewer, now=now)
    viewer.is_active = False
    viewer.save()
    assert services.redeem_login_link(secret=secret, now=now) is None


def test_the_secret_is_not_in_the_database(viewer: Any) -> None:
    secret = services.create_login_link(user=viewer, now=timezone.now())
    link = LoginLink.objects.get()
    assert secret not in (link.digest, str(link))
    assert len(link.digest) == 64


@pytest.mark.parametrize("method", ["post", "put", "delete"])
def test_nothing_but_a_get_is_answered(client: Client, viewer: Any, method: str) -> None:
    secret = services.create_login_link(user=viewer, now=timezone.now())
    assert getattr(client, method)(reverse("login-link", args=[secret])).status_code == 405
    assert LoginLink.objects.get().used_at is None
