"""Forms of this room. They read and check; the views pass what they hold to one service."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from allauth.account.forms import LoginForm
from django import forms
from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from advisor.teams.roles import Role
from advisor.teams.scopes import Scope

#: What each role may do, in one line, as the team's page says it beside the name.
ROLE_WORDS: dict[Role, Any] = {
    Role.VIEWER: gettext_lazy("sees everything of the team"),
    Role.EDITOR: gettext_lazy("adds servers, works on recommendations, proposes changes"),
    Role.APPROVER: gettext_lazy("reviews changes of others, sets what rules watch for"),
    Role.OPERATOR: gettext_lazy("applies and rolls back what was approved"),
    Role.ADMIN: gettext_lazy("everything, also people and policies"),
}
SCOPE_WORDS: dict[Scope, Any] = {
    Scope.READ: gettext_lazy("read everything that I see"),
    Scope.PROPOSE: gettext_lazy("work on recommendations and propose changes"),
    Scope.APPROVE: gettext_lazy("review and approve changes of others"),
    Scope.APPLY: gettext_lazy("apply and roll back changes"),
    Scope.ADMIN: gettext_lazy("servers, rules, policies and people"),
}
_TOKEN_DAYS = [("30", 30), ("90", 90), ("365", 365)]


class SignIn(LoginForm):
    """Name and password. The tries are counted by ``ACCOUNT_RATE_LIMITS``."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["login"].label = _("Username")
        self.fields["login"].widget.attrs = {"id": "id_username", "autocomplete": "username", "autofocus": True}
        self.fields["password"].label = _("Password")
        self.fields["password"].widget.attrs = {"autocomplete": "current-password"}
        self.fields["password"].help_text = ""


class RolesField(forms.MultipleChoiceField):
    """Ticks for roles; at least one."""

    def __init__(self) -> None:
        super().__init__(
            label=gettext_lazy("Roles"),
            choices=[(role.value, role.value) for role in Role],
            widget=forms.CheckboxSelectMultiple,
        )

    def clean(self, value: Any) -> list[Role]:
        return [Role(name) for name in super().clean(value)]


class Invite(forms.Form):
    """Whom to invite, and as what."""

    email = forms.EmailField(
        label=gettext_lazy("E-mail address"), max_length=254, widget=forms.EmailInput(attrs={"autocomplete": "off"})
    )
    roles = RolesField()


class MemberRoles(forms.Form):
    """The roles one member shall have from now on."""

    roles = RolesField()


class NewTeam(forms.Form):
    """A further team."""

    name = forms.CharField(label=gettext_lazy("Name"), max_length=100)


class NewAccount(forms.Form):
    """An account for somebody who was invited."""

    username = forms.CharField(
        label=gettext_lazy("Username"), max_length=150, widget=forms.TextInput(attrs={"autocomplete": "username"})
    )
    password = forms.CharField(
        label=gettext_lazy("Password"),
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        help_text=gettext_lazy("At least 12 characters; a sentence is a good one."),
    )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if cleaned.get("password"):
            try:
                validate_password(cleaned["password"], User(username=cleaned.get("username", "")))
            except ValidationError as error:
                self.add_error("password", error)
        return cleaned


class NewToken(forms.Form):
    """A token's name, what it may do and how long it lasts."""

    name = forms.CharField(
        label=gettext_lazy("What it is for"), max_length=100, widget=forms.TextInput(attrs={"autocomplete": "off"})
    )
    scopes = forms.MultipleChoiceField(
        label=gettext_lazy("What it may do"),
        choices=[(scope.value, scope.value) for scope in Scope],
        widget=forms.CheckboxSelectMultiple,
        required=False,
    )
    everything = forms.BooleanField(label=gettext_lazy("everything that I may do"), required=False)
    expires = forms.ChoiceField(label=gettext_lazy("It ends after"), initial="90")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        days = [(name, _("%(count)d days") % {"count": count}) for name, count in _TOKEN_DAYS]
        self.fields["expires"].choices = [*days, ("never", _("never"))]  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        # Nothing ticked must not silently mean everything.
        if not cleaned.get("scopes") and not cleaned.get("everything"):
            self.add_error("scopes", _("Tick what the token may do."))
        return cleaned

    def wanted(self) -> list[Scope]:
        """The scopes; empty for everything."""
        if self.cleaned_data["everything"]:
            return []
        return [Scope(name) for name in self.cleaned_data["scopes"]]

    def expires_at(self, now: datetime) -> datetime | None:
        """None: it does not end by itself."""
        days = dict(_TOKEN_DAYS).get(self.cleaned_data["expires"])
        return None if days is None else now + timedelta(days=days)
