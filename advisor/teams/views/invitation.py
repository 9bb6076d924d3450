"""Following an invitation: into an account that is there, or into a new one."""

from __future__ import annotations

from allauth.account.internal.flows.login import perform_login
from allauth.account.models import Login
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from advisor.teams import invitations, services
from advisor.teams.forms import NewAccount


@never_cache
@sensitive_post_parameters()
@require_http_methods(["GET", "POST"])
def invitation(request: HttpRequest, secret: str) -> HttpResponse:
    """Says who invites to what. Nothing is accepted by looking: mail programs open links by themselves.

    A link that is used, run out, withdrawn or was never made gets one and the same answer.
    """
    now = timezone.now()
    found = invitations.find(secret=secret, now=now)
    if found is None:
        return render(request, "teams/invitation_spent.html", status=410)
    context = {
        "invitation": found,
        "roles": invitations.roles_of(found),
        "issuer": settings.OIDC_NAME if settings.OIDC_ISSUER else "",
        "secret": secret,
    }
    if request.user.is_authenticated:
        if request.method == "POST":
            team = invitations.accept(secret=secret, user=request.user, now=now)
            if team is None:
                return render(request, "teams/invitation_spent.html", status=410)
            messages.success(request, _("You are now in %(team)s.") % {"team": team.name})
            return redirect("team", team.pk)
        return render(request, "teams/invitation.html", context)
    form = NewAccount(request.POST if request.method == "POST" else None)
    if form.is_valid():
        try:
            person = invitations.accept_as_new(
                secret=secret, name=form.cleaned_data["username"], password=form.cleaned_data["password"], now=now
            )
        except services.TeamsError:
            form.add_error("username", _("This name is taken or cannot be used. Letters, digits and @ . + - _ can."))
        else:
            if person is None:
                return render(request, "teams/invitation_spent.html", status=410)
            return perform_login(request, Login(user=person))
    return render(request, "teams/invitation.html", {**context, "form": form}, status=422 if form.is_bound else 200)
