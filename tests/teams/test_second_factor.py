"""An authenticator app: enrolled, asked for, used once; and what needs it shown again."""

from __future__ import annotations

import time
from typing import Any

import pytest
from allauth.mfa.adapter import get_adapter
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import TOTP, format_hotp_value, hotp_value
from cryptography.fernet import Fernet
from django.core.exceptions import ImproperlyConfigured
from django.test import Client, RequestFactory
from django.urls import reverse
from django.utils import timezone

from advisor.teams import services, signin
from advisor.teams.models import AuditEntry

PASSWORD = "a horse, a battery and a staple"
SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"


def code(secret: str = SECRET) -> str:
    """What the app shows now; waits where the half minute is about to end."""
    if time.time() % 30 > 28:
        time.sleep(2.5)
    return str(format_hotp_value(hotp_value(secret, int(time.time()) // 30)))


@pytest.fixture
def ada(viewer: Any) -> Any:
    viewer.set_password(PASSWORD)
    viewer.save()
    return viewer


@pytest.fixture
def enrolled(ada: Any) -> Any:
    """The viewer, with password and app."""
    TOTP.activate(ada, SECRET)
    return ada


def by_password(client: Client) -> Any:
    return client.post(reverse("login"), {"login": "viewer", "password": PASSWORD, "next": "/rules"})


def is_in(client: Client) -> bool:
    return client.get(reverse("account")).status_code == 200


def test_enrolling_takes_the_password_again_and_a_code_and_gives_recovery_codes_once(ada: Any) -> None:
    client = Client()
    by_password(client)
    app = reverse("mfa_activate_totp")
    assert client.get(app)["Location"].startswith(reverse("account_reauthenticate"))
    client.post(reverse("account_reauthenticate"), {"password": PASSWORD, "next": app})
    secret = client.get(app).context["form"].secret
    assert client.post(app, {"code": "000000"}).status_code == 200
    assert client.post(app, {"code": code(secret)})["Location"] == reverse("mfa_view_recovery_codes")
    first = client.get(reverse("mfa_view_recovery_codes"))
    shown = first.context["unused_codes"]
    assert len(shown) == 10
    again = client.get(reverse("mfa_view_recovery_codes")).content.decode()
    assert not any(one in again for one in shown)
    actions = AuditEntry.objects.filter(action="factor.enrolled").values_list("data", flat=True)
    assert sorted(actions) == ['{"kind":"recovery_codes"}', '{"kind":"totp"}']
    assert secret not in "".join(str(row.data) for row in Authenticator.objects.all())


def test_the_password_alone_no_longer_lets_in_and_the_way_back_is_kept(enrolled: Any) -> None:
    client = Client()
    assert by_password(client)["Location"] == reverse("mfa_authenticate")
    assert not is_in(client)
    assert client.post(reverse("mfa_authenticate"), {"code": code()})["Location"] == "/rules"
    assert is_in(client)


def test_a_key_is_offered_to_whoever_has_one_only(enrolled: Any) -> None:
    client = Client()
    by_password(client)
    page = client.get(reverse("mfa_authenticate")).content.decode()
    assert 'name="code"' in page
    assert "data-webauthn" not in page


def test_a_login_link_asks_for_it_too(enrolled: Any) -> None:
    client = Client()
    link = reverse("login-link", args=[services.create_login_link(user=enrolled, now=timezone.now())])
    assert client.get(link)["Location"] == reverse("mfa_authenticate")
    assert not is_in(client)


def test_a_code_works_once(enrolled: Any) -> None:
    seen = code()
    first, second = Client(), Client()
    for client in (first, second):
        by_password(client)
        client.post(reverse("mfa_authenticate"), {"code": seen})
    assert is_in(first)
    assert not is_in(second)


def test_codes_are_not_guessed_more_than_ten_times(enrolled: Any, monkeypatch: Any) -> None:
    tried: list[str] = []

    def wrong(self: Any, given: str) -> bool:
        tried.append(given)
        return False

    monkeypatch.setattr(TOTP, "validate_code", wrong)
    for number in range(15):
        client = Client()
        by_password(client)
        client.post(reverse("mfa_authenticate"), {"code": f"{number:06}"}, REMOTE_ADDR=f"198.51.100.{number + 1}")
    assert len(tried) == 10


def test_a_recovery_code_lets_in_once(enrolled: Any) -> None:
    from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes

    spare = RecoveryCodes.activate(enrolled).generate_codes()[0]
    first, second = Client(), Client()
    for client in (first, second):
        by_password(client)
        client.post(reverse("mfa_authenticate"), {"code": spare})
    assert is_in(first)
    assert not is_in(second)


def test_what_changes_the_factor_is_not_done_by_the_password(enrolled: Any) -> None:
    client = Client()
    client.force_login(enrolled)
    remove = reverse("mfa_deactivate_totp")
    assert client.post(remove)["Location"].startswith(reverse("mfa_reauthenticate"))
    refused = client.post(reverse("account_reauthenticate"), {"password": PASSWORD, "next": remove})
    assert refused["Location"].startswith(reverse("mfa_reauthenticate"))
    assert Authenticator.objects.filter(type="totp").exists()
    client.post(reverse("mfa_reauthenticate"), {"code": code(), "next": remove})
    client.post(remove)
    assert not Authenticator.objects.exists()
    assert AuditEntry.objects.filter(action="factor.removed").count() >= 1


def test_recently_means_the_second_factor_and_a_quarter_of_an_hour(enrolled: Any, monkeypatch: Any) -> None:
    client = Client()
    by_password(client)
    client.post(reverse("mfa_authenticate"), {"code": code()})
    request = RequestFactory().get("/")
    request.user, request.session = enrolled, client.session
    assert signin.recently_authenticated(request)
    now = time.time()
    monkeypatch.setattr("advisor.teams.signin.time.time", lambda: now + 901)
    assert not signin.recently_authenticated(request)
    assert signin.reauthenticate_address(request, "/changes/1") == (
        reverse("mfa_reauthenticate") + "?next=%2Fchanges%2F1"
    )
    request.session = Client().session  # signed in by a link, say: no factor was shown
    monkeypatch.setattr("advisor.teams.signin.time.time", lambda: now)
    assert not signin.recently_authenticated(request)


def test_without_a_second_factor_there_is_nothing_to_ask_for(viewer: Any) -> None:
    request = RequestFactory().get("/")
    request.user, request.session = viewer, Client().session
    assert signin.recently_authenticated(request)


def test_a_token_is_made_by_whoever_showed_the_factor_lately(enrolled: Any) -> None:
    client = Client()
    client.force_login(enrolled)
    answer = client.post(reverse("tokens"), {"name": "x", "everything": "on", "expires": "90"})
    assert answer["Location"].startswith(reverse("mfa_reauthenticate"))
    assert not enrolled.api_tokens.exists()


def test_who_lost_everything_is_let_in_by_whoever_runs_tidemark(enrolled: Any) -> None:
    services.forget_second_factor(user=enrolled)
    client = Client()
    by_password(client)
    assert is_in(client)
    assert AuditEntry.objects.filter(action="factor.removed").exists()


def test_secrets_move_to_a_new_key_and_the_old_one_can_go(enrolled: Any, settings: Any) -> None:
    old, new = settings.CREDENTIAL_KEYS, [Fernet.generate_key().decode()]
    settings.CREDENTIAL_KEYS = new + old
    assert services.seal_second_factors_anew() == 1
    settings.CREDENTIAL_KEYS = new
    assert get_adapter().decrypt(Authenticator.objects.get().data["secret"]) == SECRET
    settings.CREDENTIAL_KEYS = old
    with pytest.raises(ImproperlyConfigured, match="No credential key opens"):
        get_adapter().decrypt(Authenticator.objects.get().data["secret"])
