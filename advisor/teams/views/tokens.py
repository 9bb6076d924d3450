"""One's own API tokens."""

from __future__ import annotations

from typing import Any, cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from advisor.teams import services, signin
from advisor.teams.forms import SCOPE_WORDS, NewToken
from advisor.teams.models import ApiToken
from advisor.teams.scopes import Scope, read_scopes

_FRESH_TOKEN = "fresh_token"  # noqa: S105 -- the name of a place in the session


@never_cache
@login_required
@require_http_methods(["GET", "POST"])
def tokens(request: HttpRequest) -> HttpResponse:
    """The list, and the form for a new one. A new token's text is shown once, on the answer that makes it.

    Whoever has a second factor shows it first: a token acts without one.
    """
    person = cast(User, request.user)
    now = timezone.now()
    form = NewToken(request.POST if request.method == "POST" else None, initial={"everything": True})
    made = None
    if request.method == "POST" and not signin.recently_authenticated(request):
        return redirect(signin.reauthenticate_address(request, request.path))
    if form.is_valid():
        made = services.create_token(
            user=person, name=form.cleaned_data["name"], scopes=form.wanted(), expires_at=form.expires_at(now)
        )
        form = NewToken(initial={"everything": True})
    listed = [
        {
            "token": token,
            "scopes": [scope for scope in Scope if scope in read_scopes(token.scopes)] if token.scopes else None,
            "over": token.expires_at is not None and token.expires_at <= now,
        }
        for token in ApiToken.objects.filter(user=person).order_by("-created_at")
    ]
    context: dict[str, Any] = {
        "form": form,
        "made": made,
        "tokens": listed,
        "scopes": [(scope, SCOPE_WORDS[scope]) for scope in Scope],
    }
    return render(request, "teams/tokens.html", context, status=422 if form.errors else 200)


@login_required
@require_POST
def revoke(request: HttpRequest, token_id: str) -> HttpResponse:
    """Ends a token at once."""
    if not services.delete_token(user=cast(User, request.user), token_id=token_id, now=timezone.now()):
        raise Http404("There is no such token.")
    messages.success(request, _("The token is revoked: programs that use it are refused from now on."))
    return redirect("tokens")
