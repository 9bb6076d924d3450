"""Password and session: what lets somebody in, how often it may be tried, and what ends it."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from advisor.teams import services
from advisor.teams.client_address import forwarded_address
from advisor.teams.models import AuditEntry, SharedCacheEntry

PASSWORD = "a horse, a battery and a staple"


@pytest.fixture
def ada(viewer: Any) -> Any:
    """The viewer, with a password."""
    viewer.set_password(PASSWORD)
    viewer.save()
    return viewer


def sign_in(name: str, password: str, client: Client | None = None, **extra: Any) -> Any:
    return (client or Client()).post(reverse("login"), {"login": name, "password": password}, **extra)


def is_in(client: Client) -> bool:
    return client.get(reverse("account")).status_code == 200


def test_name_and_password_let_in_whatever_the_name_s_case(ada: Any) -> None:
    client = Client()
    assert sign_in("VIEWER", PASSWORD, client)["Location"] == "/"
    assert is_in(client)


def test_a_session_from_before_is_worth_nothing_afterwards(ada: Any) -> None:
    client = Client()
    client.session.save()
    planted = client.session.session_key
    sign_in("viewer", PASSWORD, client)
    assert client.session.session_key not in (None, planted)


def test_unknown_names_and_wrong_passwords_get_the_same_words(ada: Any) -> None:
    texts = [sign_in(name, "wrong").content.decode() for name in ("viewer", "nobody")]
    assert all("do not belong together" in text for text in texts)


def test_ten_tries_at_one_account_from_fifty_addresses_and_no_more(ada: Any, monkeypatch: Any) -> None:
    tried: list[str] = []

    def wrong(self: Any, raw: str) -> bool:
        tried.append(raw)
        return False

    monkeypatch.setattr(type(ada), "check_password", wrong)
    for number in range(50):
        sign_in("viewer", f"guess {number}", REMOTE_ADDR=f"198.51.100.{number + 1}")
    assert len(tried) == 10


def test_ten_tries_from_one_address_at_fifty_accounts_and_no_more(ada: Any, monkeypatch: Any) -> None:
    from advisor.teams import adapters

    asked = []
    monkeypatch.setattr(
        adapters.AccountAdapter, "authentication_failed", lambda self, request, **given: asked.append(given)
    )
    for number in range(50):
        sign_in(f"person{number}", "guess", REMOTE_ADDR="198.51.100.7")
    assert len(asked) == 10


def test_the_owner_is_not_locked_out_for_good(ada: Any) -> None:
    for number in range(12):
        sign_in("viewer", f"guess {number}", REMOTE_ADDR=f"198.51.100.{number + 1}")
    assert "Too many failed tries" in sign_in("viewer", PASSWORD).content.decode()
    # A login link is another way in, at once.
    client = Client()
    client.get(reverse("login-link", args=[services.create_login_link(user=ada, now=timezone.now())]))
    assert is_in(client)
    # A quarter of an hour later the tries are forgotten: they lie in the shared table, with their end.
    SharedCacheEntry.objects.all().delete()
    assert sign_in("viewer", PASSWORD).status_code == 302


def test_tries_are_counted_in_the_database_so_that_processes_count_together(ada: Any) -> None:
    sign_in("viewer", "guess")
    kept = SharedCacheEntry.objects.filter(key__contains="login_failed")
    assert kept.exists()
    assert all((entry.expires_at - timezone.now()).total_seconds() <= 901 for entry in kept)


def test_a_new_password_ends_every_other_session_and_keeps_this_one(ada: Any) -> None:
    here, there = Client(), Client()
    for client in (here, there):
        sign_in("viewer", PASSWORD, client)
    before = here.session.session_key
    new = "another horse, another staple"
    form = {"form": "password", "old_password": PASSWORD, "new_password1": new, "new_password2": new}
    assert here.post(reverse("account"), form).status_code == 302
    assert here.session.session_key != before
    assert is_in(here)
    assert not is_in(there)


def test_signing_out_ends_the_session_on_the_server(ada: Any) -> None:
    client = Client()
    sign_in("viewer", PASSWORD, client)
    kept = client.cookies["tidemark_session"].value
    client.post(reverse("logout"))
    client.cookies["tidemark_session"] = kept
    assert not is_in(client)


def test_an_account_that_is_switched_off_is_out_at_its_next_request(ada: Any) -> None:
    client = Client()
    sign_in("viewer", PASSWORD, client)
    ada.is_active = False
    ada.save()
    assert not is_in(client)
    assert sign_in("viewer", PASSWORD)["Location"] == reverse("account_inactive")


def test_sessions_are_listed_and_the_others_can_be_ended(ada: Any) -> None:
    here, there = Client(), Client()
    for client in (here, there):
        sign_in("viewer", PASSWORD, client, HTTP_USER_AGENT="<b>odd</b> browser")
    page = here.get(reverse("usersessions_list")).content.decode()
    assert page.count("127.0.0.1") >= 2
    assert "&lt;b&gt;odd" in page
    here.post(reverse("usersessions_list"))
    assert is_in(here)
    assert not is_in(there)


def test_signing_in_and_failing_to_are_audited_without_what_was_typed(ada: Any) -> None:
    sign_in("viewer", "a guess")
    sign_in("a password in the wrong field", "x")
    client = Client()
    sign_in("viewer", PASSWORD, client)
    client.post(reverse("logout"))
    told = [(row.action, row.subject) for row in AuditEntry.objects.filter(action__startswith="session.")]
    mine = f"viewer ({ada.pk})"
    assert sorted(told) == [
        ("session.refused", "an unknown name"),
        ("session.refused", mine),
        ("session.signed_in", mine),
        ("session.signed_out", mine),
    ]
    everything = "".join(f"{row.subject}{row.data}" for row in AuditEntry.objects.all())
    assert "wrong field" not in everything
    assert "guess" not in everything
    assert PASSWORD not in everything


@pytest.mark.parametrize(
    ("header", "proxies", "address"),
    [
        ("203.0.113.9", 0, ""),
        ("203.0.113.9", 1, "203.0.113.9"),
        ("6.6.6.6, 203.0.113.9", 1, "203.0.113.9"),
        ("6.6.6.6, 203.0.113.9, 10.0.0.1", 2, "203.0.113.9"),
        ("203.0.113.9", 2, ""),
        ("not an address", 1, ""),
        ("2001:DB8::1", 1, "2001:db8::1"),
    ],
)
def test_an_address_is_taken_from_our_own_proxies_only(header: str, proxies: int, address: str) -> None:
    assert forwarded_address(header, proxies) == address


def test_the_caller_s_own_header_does_not_buy_new_tries(ada: Any, settings: Any) -> None:
    settings.TRUSTED_PROXIES = 1
    answers = [
        sign_in(f"person{number}", "x", REMOTE_ADDR="10.0.0.1", HTTP_X_FORWARDED_FOR=f"6.6.6.{number}, 203.0.113.9")
        for number in range(12)
    ]
    assert "Too many failed tries" in answers[-1].content.decode()


def test_a_flood_of_tries_gets_a_page_that_says_how_long(ada: Any, settings: Any) -> None:
    settings.ACCOUNT_RATE_LIMITS = {**settings.ACCOUNT_RATE_LIMITS, "login": "2/m/ip"}
    answers = [sign_in("viewer", "x") for _ in range(3)]
    assert answers[-1].status_code == 429
    assert "Wait a quarter of an hour" in answers[-1].content.decode()
    assert "Content-Security-Policy" in answers[-1].headers
