"""A team's webhooks: who is told, what they were told, and a new one, whose secret is shown once."""

from __future__ import annotations

from typing import Any, cast

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from advisor.changes import webhooks
from advisor.changes.models import State, Webhook
from advisor.teams import access
from advisor.teams.models import Team
from advisor.teams.roles import Action

#: So many of the newest deliveries of each are shown.
_SHOWN = 5


class NewWebhook(forms.Form):
    """What a person says of a new one; the service checks it."""

    name = forms.CharField(label=gettext_lazy("Name"), max_length=100)
    url = forms.CharField(
        label=gettext_lazy("Address"),
        max_length=500,
        widget=forms.URLInput(attrs={"placeholder": "https://", "autocomplete": "off"}),
        help_text=gettext_lazy("Each change of state is sent there as JSON, signed."),
    )
    states = forms.MultipleChoiceField(
        choices=[(state, state) for state in State.values], required=False, widget=forms.CheckboxSelectMultiple
    )


@never_cache
@login_required
@require_http_methods(["GET", "POST"])
def team_webhooks(request: HttpRequest, team_id: str) -> HttpResponse:
    """The list and the form. A new one's secret is on the answer that makes it, and is kept nowhere in the clear."""
    team = _team(request, team_id)
    form = NewWebhook(request.POST if request.method == "POST" else None)
    made = None
    if form.is_valid():
        try:
            made = webhooks.add_webhook(
                team=team,
                name=form.cleaned_data["name"],
                url=form.cleaned_data["url"],
                states=form.cleaned_data["states"],
                unrestricted=access.may_name_any_address(request.user),
                actor=cast(User, request.user),
                now=timezone.now(),
            )
            form = NewWebhook()
        except webhooks.BadWebhook as bad:
            form.add_error(bad.field, str(bad))
    listed = [
        (webhook, list(webhook.deliveries.order_by("-created_at")[:_SHOWN]))
        for webhook in team.webhooks.order_by("name")
    ]
    context: dict[str, Any] = {
        "team": team,
        "form": form,
        "webhooks": listed,
        "made": made,
        "secret": made.secret.reveal() if made else "",
        "states": State.values,
    }
    return render(request, "changes/webhooks.html", context, status=422 if form.errors else 200)


@login_required
@require_POST
def set_enabled(request: HttpRequest, team_id: str, webhook_id: str) -> HttpResponse:
    """Pauses it, or goes on: what the form says."""
    webhook = _webhook(request, team_id, webhook_id)
    enabled = request.POST.get("enabled") == "yes"
    webhooks.set_enabled(webhook=webhook, enabled=enabled, actor=cast(User, request.user), now=timezone.now())
    return redirect("team-webhooks", team_id)


@login_required
@require_POST
def delete(request: HttpRequest, team_id: str, webhook_id: str) -> HttpResponse:
    webhook = _webhook(request, team_id, webhook_id)
    webhooks.delete_webhook(webhook=webhook, actor=cast(User, request.user), now=timezone.now())
    messages.success(request, _("Deleted."))
    return redirect("team-webhooks", team_id)


def _team(request: HttpRequest, team_id: str) -> Team:
    team, may = access.get_own_team(request.user, team_id)
    may.require(Action.MANAGE_TEAM)
    return team


def _webhook(request: HttpRequest, team_id: str, webhook_id: str) -> Webhook:
    found = Webhook.objects.filter(team=_team(request, team_id), pk=webhook_id).first()
    if found is None:
        raise Http404("There is no such webhook.")
    return found
