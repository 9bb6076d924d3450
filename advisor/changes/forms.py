"""Forms of change requests, each named for an intention: they read and check, a service does the rest."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django import forms
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from collector.models import Server

LONGEST_TEXT = 8000
_SMALL = {"rows": 2}


class Proposal(forms.Form):
    """What a change request says besides its lines. ``servers`` are those of the lines, one of which may be first."""

    title = forms.CharField(
        label=gettext_lazy("Title"),
        max_length=200,
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
        error_messages={"required": gettext_lazy("Give it a title by which others know it.")},
    )
    reason = forms.CharField(
        label=gettext_lazy("Reason"),
        max_length=LONGEST_TEXT,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=gettext_lazy("What is wrong now. Whoever approves reads this."),
        error_messages={"required": gettext_lazy("Say why: whoever approves has to know.")},
    )
    expected_effect = forms.CharField(
        label=gettext_lazy("Expected effect"), required=False, max_length=LONGEST_TEXT, widget=forms.Textarea(_SMALL)
    )
    price = forms.CharField(
        label=gettext_lazy("Price"),
        required=False,
        max_length=LONGEST_TEXT,
        widget=forms.Textarea(_SMALL),
        help_text=gettext_lazy("What it costs: memory, disk, a longer recovery."),
    )
    test_plan = forms.CharField(
        label=gettext_lazy("Test plan"),
        required=False,
        max_length=LONGEST_TEXT,
        widget=forms.Textarea(_SMALL),
        help_text=gettext_lazy("How somebody sees that it worked."),
    )
    first_server = forms.ChoiceField(
        label=gettext_lazy("First server"),
        required=False,
        help_text=gettext_lazy("It is changed alone; the others follow after the wait, if nothing got worse."),
    )
    wait_minutes = forms.IntegerField(
        label=gettext_lazy("Wait, minutes"), required=False, min_value=0, max_value=7 * 24 * 60, initial=30
    )
    emergency = forms.BooleanField(
        label=gettext_lazy("Emergency: apply first, review after"),
        required=False,
        help_text=gettext_lazy(
            "Only where an admin switched it on for the servers' tag. Dynamic and reversible only; it expires by itself"
            " and is always reported."
        ),
    )

    def __init__(self, *args: Any, servers: Iterable[Server] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._servers = {server.pk: server for server in servers}
        self.fields["first_server"].choices = [  # type: ignore[attr-defined]
            ("", _("all at once, one after another")),
            *((pk, server.name) for pk, server in self._servers.items()),
        ]

    def first(self) -> Server | None:
        """The chosen first server. Only after ``is_valid``."""
        return self._servers.get(self.cleaned_data["first_server"])

    def wait_seconds(self) -> int:
        """0 where there is nobody to wait for. Only after ``is_valid``."""
        return 60 * (self.cleaned_data["wait_minutes"] or 0) if self.first() is not None else 0


class Verdict(forms.Form):
    """What somebody says of the plan whose hash was on the page they read."""

    verdict = forms.ChoiceField(choices=[(one, one) for one in ("approve", "request_changes", "comment")])
    plan_hash = forms.RegexField(r"^[0-9a-f]{64}$")
    text = forms.CharField(label=gettext_lazy("What you say"), required=False, max_length=LONGEST_TEXT)
    line = forms.CharField(required=False, max_length=90)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if cleaned.get("verdict") in ("request_changes", "comment") and not str(cleaned.get("text", "")).strip():
            self.add_error("text", _("Say what you mean: nothing was written."))
        return cleaned


class Schedule(forms.Form):
    """When an approved change begins by itself, in the reader's zone."""

    at = forms.DateTimeField(
        label=gettext_lazy("Begin at"), widget=forms.DateTimeInput(attrs={"type": "datetime-local"})
    )

    def clean_at(self) -> Any:
        at = self.cleaned_data["at"]
        if at <= timezone.now():
            raise forms.ValidationError(_("This has passed already."))
        return at
