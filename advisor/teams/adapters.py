"""How django-allauth behaves here: who may come in, what it encrypts, and what it never does by itself."""

from __future__ import annotations

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.mfa.adapter import DefaultMFAAdapter
from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ImproperlyConfigured
from django.http import HttpRequest
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext_lazy as _


class AccountAdapter(DefaultAccountAdapter):
    """Passwords and sessions. Nobody makes an account for themselves: people are invited."""

    # Our own words and translations for what a person may meet.
    error_messages = {
        **DefaultAccountAdapter.error_messages,
        "username_password_mismatch": _("This name and this password do not belong together."),
        "too_many_login_attempts": _(
            "Too many failed tries. Wait a quarter of an hour, or use a passkey or a login link."
        ),
        "incorrect_password": _("That is not your present password."),
        "incorrect_code": _("This code is not right, or was used already."),
    }

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Never: an invitation or an administrator makes accounts."""
        return False

    def is_safe_url(self, url: str | None) -> bool:
        """Whether somebody may be sent there after signing in: to paths of ours only, never by a whole address."""
        try:
            return bool(url and url.startswith("/") and url_has_allowed_host_and_scheme(url, allowed_hosts=None))
        except ValueError:  # what looks like an address and is none
            return False

    def get_client_ip(self, request: HttpRequest) -> str:
        """The address that ``client_address`` settled; a unix socket has none."""
        return str(request.META.get("REMOTE_ADDR") or "127.0.0.1")

    def add_message(self, *args: Any, **kwargs: Any) -> None:
        """Keeps the library's own messages back ("Successfully signed in as ..."): the page itself shows what is so.

        What it says of a failure is passed on in words.
        """
        message = kwargs.get("message")
        if message is not None:
            super().add_message(*args, **kwargs)

    def get_reauthentication_methods(self, user: Any) -> list[dict[str, Any]]:
        """The second factor where there is one: whoever took over a session may know the password too."""
        methods: list[dict[str, Any]] = super().get_reauthentication_methods(user)
        factors = [method for method in methods if method["id"] != "reauthenticate"]
        return factors or methods

    def send_notification_mail(self, *args: Any, **kwargs: Any) -> None:
        """Sends none: such notices are the audit's, and mail goes out by the product's own channels only."""


def _box() -> MultiFernet:
    if not settings.CREDENTIAL_KEYS:
        raise ImproperlyConfigured("There is no credential key: run ./start --setup, or set TIDEMARK_CREDENTIAL_KEYS.")
    return MultiFernet([Fernet(key.encode("ascii")) for key in settings.CREDENTIAL_KEYS])


class SecondFactorAdapter(DefaultMFAAdapter):
    """Authenticator apps, security keys and recovery codes. Their secrets are encrypted with the credential keys."""

    error_messages = {
        **DefaultMFAAdapter.error_messages,
        "incorrect_code": _("This code is not right, or was used already."),
    }

    def encrypt(self, text: str) -> str:
        """With the first key."""
        return _box().encrypt(text.encode("utf-8")).decode("ascii")

    def decrypt(self, encrypted_text: str) -> str:
        """With whichever key fits. Raises ImproperlyConfigured where that one is gone."""
        try:
            return _box().decrypt(encrypted_text.encode("ascii")).decode("utf-8")
        except InvalidToken:
            raise ImproperlyConfigured("No credential key opens this second factor: was its key removed?") from None

    def get_totp_label(self, user: Any) -> str:
        """The person's name, since an address may be missing."""
        return str(user.get_username())

    def get_totp_issuer(self) -> str:
        """What the app shows above the name."""
        return f"Tidemark {self._get_site_name()}"

    def get_public_key_credential_user_entity(self, user: User) -> dict[str, Any]:
        """The name that the browser shows beside a passkey."""
        name = user.get_username()
        return {**super().get_public_key_credential_user_entity(user), "name": name, "display_name": name}


def passkeys_work_at(host: str) -> bool:
    """Whether browsers make and use passkeys for pages at this host: by name only, never by a bare IP address."""
    name = host.rsplit(":", 1)[0] if not host.startswith("[") else host
    return not name.startswith("[") and not name.replace(".", "").isdigit()
