"""Signing in, as django-allauth does it, with what our pages add."""

from __future__ import annotations

from typing import Any

from allauth.account.views import LoginView, ReauthenticateView
from allauth.mfa.webauthn.views import AddWebAuthnView
from django.conf import settings
from django.contrib.auth.views import LogoutView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST

from advisor.teams import invitations
from advisor.teams.adapters import passkeys_work_at
from advisor.teams.openid import INVITATION_KEY


class SignInView(LoginView):
    """The login page: password, passkey, and the issuer where one is set up."""

    template_name = "account/login.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return {
            **super().get_context_data(**kwargs),
            "issuer": settings.OIDC_NAME if settings.OIDC_ISSUER else "",
            "passkeys": passkeys_work_at(self.request.get_host()),
        }


class AddKeyView(AddWebAuthnView):
    """A security key or passkey. Browsers make none for a bare address: that is said before anybody tries."""

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        host = self.request.get_host()
        return {**super().get_context_data(**kwargs), "possible": passkeys_work_at(host), "host": host}


sign_in = SignInView.as_view()
sign_out = LogoutView.as_view()
reauthenticate = ReauthenticateView.as_view()
add_key = AddKeyView.as_view()


def inactive(request: HttpRequest) -> HttpResponse:
    """For somebody whose account is switched off."""
    return render(request, "account/account_inactive.html")


def issuer_failed(request: HttpRequest) -> HttpResponse:
    """Where the issuer said no, or somebody thought better of it."""
    return render(request, "socialaccount/authentication_error.html")


@require_POST
def keep_invitation(request: HttpRequest, secret: str) -> HttpResponse:
    """Remembers the invitation while its bearer signs in with the issuer; the login page has that button."""
    if invitations.find(secret=secret, now=timezone.now()):
        request.session[INVITATION_KEY] = secret
    return redirect("login")
