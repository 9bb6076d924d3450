"""A passkey in a real browser with a virtual authenticator: added, used alone, and as a second factor."""

from __future__ import annotations

from typing import Any

import pytest

from tests.web.conftest import chromium, visit  # noqa: F401 -- fixtures

pytestmark = [pytest.mark.browser, pytest.mark.ci]
PASSWORD = "a horse, a battery and a staple"


def with_authenticator(page: Any) -> Any:
    """The page's context has a key that is always touched and always knows its owner."""
    devices = page.context.new_cdp_session(page)
    devices.send("WebAuthn.enable")
    options = {
        "protocol": "ctap2",
        "transport": "internal",
        "hasResidentKey": True,
        "hasUserVerification": True,
        "isUserVerified": True,
        "automaticPresenceSimulation": True,
    }
    devices.send("WebAuthn.addVirtualAuthenticator", {"options": options})
    return devices


@pytest.mark.django_db(transaction=True)
def test_a_passkey_is_added_lets_in_alone_and_after_the_password(visit: Any, owner: Any) -> None:  # noqa: F811
    from advisor.teams import services
    from advisor.teams.models import AuditEntry

    one = visit(owner)
    page = one.open("/account/second-factor/keys/add")
    devices = with_authenticator(page)
    page.fill("#id_name", "laptop <b>")
    page.check("#id_passwordless")
    page.click("form[data-webauthn] button")
    page.wait_for_url("**/account/second-factor/codes")
    assert page.locator("pre").inner_text().count("\n") >= 9
    assert not services.needs_login_link(user=owner)
    one.open("/account/second-factor/keys")
    assert page.locator("th .title").inner_text() == "laptop <b>"

    page.click(".rail form[action='/logout'] button")
    page.wait_for_url("**/login")
    page.click("form[data-webauthn='login'] button")
    page.wait_for_url(one.base + "/")
    assert page.locator(".rail footer").inner_text().count("owner")

    owner.refresh_from_db()
    owner.set_password(PASSWORD)
    owner.save()
    one.open("/login")
    page.fill("#id_username", "owner")
    page.fill("#id_password", PASSWORD)
    page.click("form:not([data-webauthn]):not(.look) button.primary")
    page.wait_for_url("**/login/second-factor")
    page.click("form[data-webauthn='authenticate'] button")
    page.wait_for_url(one.base + "/")

    # A key that is gone lets nobody in, and the page says so.
    devices.send("WebAuthn.disable")
    with_authenticator(page)
    page.click(".rail form[action='/logout'] button")
    page.wait_for_url("**/login")
    page.click("form[data-webauthn='login'] button")
    page.locator("form[data-webauthn='login'] .wrong:not([hidden])").wait_for()
    assert "passkey was not used" in page.locator("form[data-webauthn='login'] .wrong").inner_text()
    one.clean()
    assert AuditEntry.objects.filter(action="factor.enrolled").count() == 2
