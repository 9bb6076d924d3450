"""Addresses of this room: signing in, second factors, teams, tokens.

Of django-allauth only the pages that we offer have an address; making an account, connecting accounts, managing e-mail
addresses and resetting passwords by mail have none. Its own names are kept, since it looks its pages up by them.
"""

from __future__ import annotations

from allauth.mfa.base import views as factors
from allauth.mfa.recovery_codes import views as codes
from allauth.mfa.totp import views as totp
from allauth.mfa.webauthn import views as keys
from allauth.socialaccount.providers.openid_connect import views as issuer
from allauth.usersessions import views as sessions
from django.urls import path
from django.views.decorators.http import require_POST

from advisor.teams.views import invitation, links, signing, team, tokens

_FACTORS = "account/second-factor"

urlpatterns = [
    path("login", signing.sign_in, name="login"),
    path("logout", signing.sign_out, name="logout"),
    path("login", signing.sign_in, name="account_login"),
    path("logout", signing.sign_out, name="account_logout"),
    path("login/inactive", signing.inactive, name="account_inactive"),
    path("login/second-factor", factors.authenticate, name="mfa_authenticate"),
    path("login/passkey", keys.login_webauthn, name="mfa_login_webauthn"),
    path("login/with/cancelled", signing.issuer_failed, name="socialaccount_login_cancelled"),
    path("login/with/error", signing.issuer_failed, name="socialaccount_login_error"),
    path("login/with/<str:provider_id>", require_POST(issuer.login), name="openid_connect_login"),
    path("login/with/<str:provider_id>/callback", issuer.callback, name="openid_connect_callback"),
    path("login/<str:secret>", links.follow_login_link, name="login-link"),
    path("account/again", signing.reauthenticate, name="account_reauthenticate"),
    path("account/sessions", sessions.list_usersessions, name="usersessions_list"),
    path(_FACTORS, factors.index, name="mfa_index"),
    path(f"{_FACTORS}/again", factors.reauthenticate, name="mfa_reauthenticate"),
    path(f"{_FACTORS}/app", totp.activate_totp, name="mfa_activate_totp"),
    path(f"{_FACTORS}/app/remove", totp.deactivate_totp, name="mfa_deactivate_totp"),
    path(f"{_FACTORS}/codes", codes.view_recovery_codes, name="mfa_view_recovery_codes"),
    path(f"{_FACTORS}/codes/new", codes.generate_recovery_codes, name="mfa_generate_recovery_codes"),
    path(f"{_FACTORS}/keys", keys.list_webauthn, name="mfa_list_webauthn"),
    path(f"{_FACTORS}/keys/add", signing.add_key, name="mfa_add_webauthn"),
    path(f"{_FACTORS}/keys/again", keys.reauthenticate_webauthn, name="mfa_reauthenticate_webauthn"),
    path(f"{_FACTORS}/keys/<int:pk>/remove", keys.remove_webauthn, name="mfa_remove_webauthn"),
    path(f"{_FACTORS}/keys/<int:pk>/edit", keys.edit_webauthn, name="mfa_edit_webauthn"),
    path("account/tokens", tokens.tokens, name="tokens"),
    path("account/tokens/<str:token_id>/revoke", tokens.revoke, name="token-revoke"),
    path("teams", team.teams, name="teams"),
    path("teams/<str:team_id>", team.team, name="team"),
    path("teams/<str:team_id>/invite", team.invite, name="team-invite"),
    path("teams/<str:team_id>/invitations/<str:invitation_id>/withdraw", team.withdraw, name="invitation-withdraw"),
    path("teams/<str:team_id>/members/<int:user_id>", team.member, name="member"),
    path("teams/<str:team_id>/members/<int:user_id>/remove", team.remove, name="member-remove"),
    path("invitation/<str:secret>", invitation.invitation, name="invitation"),
    path("invitation/<str:secret>/with-issuer", signing.keep_invitation, name="invitation-with-issuer"),
]
