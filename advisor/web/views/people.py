"""A person's own page: password, second factor, and how pages look."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import translation
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from advisor.teams import services, signin
from advisor.teams.models import Membership, Preferences
from advisor.web.forms import Choices, NewPassword
from advisor.web.look import choices_in
from advisor.web.middleware import remember, remember_some


@login_required
@sensitive_post_parameters()
@require_http_methods(["GET", "POST"])
def account(request: HttpRequest) -> HttpResponse:
    """Password and choices are two forms on one page: each button sends its own."""
    user = request.user
    assert isinstance(user, User)
    stored = Preferences.objects.filter(user=user).first() or Preferences(user=user)
    before = {"theme": stored.theme, "language": stored.language, "time_zone": stored.time_zone}
    sent = request.POST.get("form", "")
    password = NewPassword(user, request.POST if sent == "password" else None)
    choices = Choices(request.POST if sent == "choices" else None, initial=before)
    if sent == "password" and password.is_valid():
        services.set_password(request=request, user=user, password=password.cleaned_data["new_password1"])
        messages.success(request, _("The password is set: from now on you can log in with it."))
        return redirect("account")
    if sent == "choices" and choices.is_valid():
        for name in before:
            setattr(stored, name, choices.cleaned_data[name])
        stored.save()
        remember(request, stored)
        if stored.language:
            translation.activate(stored.language)
        messages.success(request, _("Saved."))
        return redirect("account")
    roles: dict[str, list[str]] = {}
    for membership in Membership.objects.filter(user=user).select_related("team").order_by("team__folded", "role"):
        roles.setdefault(membership.team.name, []).append(membership.role)
    context = {
        "password": password,
        "choices": choices,
        "roles": roles,
        "second_factor": signin.has_second_factor(user),
    }
    return render(request, "web/account.html", context, status=422 if sent else 200)


@require_POST
def look(request: HttpRequest) -> HttpResponse:
    """One button of the frame: language, colours or clock. Kept with the person, or with the session of somebody who
    is not signed in; leads back to the page it was pressed on.
    """
    picked = choices_in(request.POST)
    user = request.user
    if picked and isinstance(user, User):
        stored = Preferences.objects.filter(user=user).first() or Preferences(user=user)
        for name, value in picked.items():
            setattr(stored, name, value)
        stored.save()
        remember(request, stored)
    elif picked:
        remember_some(request, picked)
    back = request.POST.get("next", "")
    mine = url_has_allowed_host_and_scheme(back, {request.get_host()}, require_https=request.is_secure())
    return redirect(back if mine and back.startswith("/") else "fleet")
