"""The form in which an admin says what is demanded of changes to servers with a tag."""

from __future__ import annotations

import re
from datetime import time
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from advisor.changes.models import Policy
from advisor.teams.roles import ALLOWED, Action

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
MOST_WINDOWS = 20
_WINDOW = re.compile(
    r"(?P<days>[a-z]{3}(?:\s*[-,]\s*[a-z]{3})*)\s+(?P<from>\d{1,2}:\d{2})\s*-\s*(?P<to>\d{1,2}:\d{2})(?:\s+(?P<zone>\S+))?",
    re.IGNORECASE,
)
_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
APPLIERS = [role.value for role, allowed in ALLOWED.items() if Action.APPLY_CHANGE in allowed]


class PolicyForm(forms.Form):
    """One policy, each demand with its consequence in words."""

    tag = forms.CharField(
        label=gettext_lazy("Servers with the tag"),
        required=False,
        max_length=50,
        help_text=gettext_lazy(
            "Empty: all servers of the team. Of several policies the strictest of each demand counts."
        ),
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    approvals = forms.IntegerField(
        label=gettext_lazy("Approvals needed"),
        min_value=0,
        max_value=3,
        initial=1,
        help_text=gettext_lazy("0: whoever may apply does so alone, nobody else looks."),
    )
    author_may_approve = forms.BooleanField(
        label=gettext_lazy("The author may approve"),
        required=False,
        help_text=gettext_lazy("Then one person alone can change a server, from the idea to production."),
    )
    windows = forms.CharField(
        label=gettext_lazy("Change windows"),
        required=False,
        max_length=2000,
        widget=forms.Textarea(attrs={"rows": 2, "placeholder": "tue,thu 09:00-11:00 Asia/Seoul"}),
        help_text=gettext_lazy("One a line: days, from-to, zone. Empty: at any time."),
    )
    allowed_variables = forms.CharField(
        label=gettext_lazy("Variables that may be changed"),
        required=False,
        max_length=8000,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text=gettext_lazy("Empty: all that the catalogue allows. Those it never allows stay out in any case."),
    )
    canary_first = forms.BooleanField(
        label=gettext_lazy("One server first"),
        required=False,
        help_text=gettext_lazy(
            "The first server is changed alone and watched; the others follow if nothing got worse."
        ),
    )
    wait_minutes = forms.IntegerField(
        label=gettext_lazy("… and wait, minutes"), min_value=0, max_value=7 * 24 * 60, initial=30
    )
    who_may_apply = forms.MultipleChoiceField(
        label=gettext_lazy("Who may apply"),
        required=False,
        choices=[(one, one) for one in APPLIERS],
        widget=forms.CheckboxSelectMultiple,
        help_text=gettext_lazy("None ticked: every role that may apply."),
    )
    roll_back_automatically = forms.BooleanField(
        label=gettext_lazy("Roll back by itself what made it worse"),
        required=False,
        help_text=gettext_lazy("Otherwise it is offered, and a person decides."),
    )
    emergency_allowed = forms.BooleanField(
        label=gettext_lazy("Allow emergency changes"),
        required=False,
        help_text=gettext_lazy(
            "Whoever may apply then changes these servers alone, at once: dynamic and reversible variables only. It"
            " expires by itself, is reviewed after, and everybody concerned is told."
        ),
    )
    emergency_minutes = forms.IntegerField(
        label=gettext_lazy("An emergency change expires after, minutes"),
        min_value=5,
        max_value=7 * 24 * 60,
        initial=240,
    )

    def clean_tag(self) -> str:
        return str(self.cleaned_data["tag"]).strip()

    def clean_windows(self) -> list[dict[str, Any]]:
        lines = [line.strip() for line in self.cleaned_data["windows"].splitlines() if line.strip()]
        if len(lines) > MOST_WINDOWS:
            raise forms.ValidationError(_("At most %(n)s windows.") % {"n": MOST_WINDOWS})
        return [window_of(line) for line in lines]

    def clean_allowed_variables(self) -> list[str]:
        names = sorted({name.lower() for name in re.split(r"[\s,]+", self.cleaned_data["allowed_variables"]) if name})
        for name in names:
            if _NAME.fullmatch(name) is None:
                raise forms.ValidationError(_("%(name)s is no name of a system variable.") % {"name": name[:64]})
        return names

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if cleaned.get("emergency_allowed") and not cleaned.get("tag"):
            self.add_error("emergency_allowed", _("Only for a tag, never for all servers at once."))
        return cleaned

    def values(self) -> dict[str, Any]:
        """What a policy holds, under its own names. Only after ``is_valid``."""
        cleaned = self.cleaned_data
        same = (
            "approvals", "author_may_approve", "windows", "allowed_variables", "canary_first", "who_may_apply",
            "emergency_allowed", "roll_back_automatically",
        )  # fmt: skip
        return {
            **{name: cleaned[name] for name in same},
            "wait_seconds": 60 * cleaned["wait_minutes"],
            "emergency_seconds": 60 * cleaned["emergency_minutes"],
        }


def window_of(line: str) -> dict[str, Any]:
    """``tue,thu 09:00-11:00 Asia/Seoul`` as a policy holds it. Raises ValidationError."""
    match = _WINDOW.fullmatch(line)
    wrong = forms.ValidationError(
        _("%(line)s is no window: write days, from-to and a zone, as mon-fri 09:00-11:00 Asia/Seoul.")
        % {"line": line[:60]}
    )
    if match is None:
        raise wrong
    try:
        begins, ends = (time.fromisoformat(match[name].zfill(5)) for name in ("from", "to"))
        zone = ZoneInfo(match["zone"] or "UTC").key
        days = _days(match["days"].lower())
    except (ValueError, ZoneInfoNotFoundError, OSError):
        raise wrong from None
    if begins == ends:
        raise wrong
    return {"days": days, "from": f"{begins:%H:%M}", "to": f"{ends:%H:%M}", "zone": zone}


def _days(text: str) -> list[int]:
    """``mon-wed,fri`` as 0, 1, 2, 4. Raises ValueError."""
    found: set[int] = set()
    for part in re.split(r"\s*,\s*", text):
        first, dash, last = (one.strip() for one in part.partition("-"))
        begin, end = DAYS.index(first), DAYS.index(last if dash else first)
        found.update((begin + step) % 7 for step in range((end - begin) % 7 + 1))
    return sorted(found)


def window_text(window: dict[str, Any]) -> str:
    """A window as it is typed."""
    days = ",".join(DAYS[day] for day in window["days"] if 0 <= day < 7)
    return f"{days} {window['from']}-{window['to']} {window['zone']}"


def initial_of(policy: Policy) -> dict[str, Any]:
    """A policy as the form shows it."""
    return {
        "tag": policy.tag,
        "approvals": policy.approvals,
        "author_may_approve": policy.author_may_approve,
        "windows": "\n".join(window_text(one) for one in policy.windows),
        "allowed_variables": " ".join(policy.allowed_variables),
        "canary_first": policy.canary_first,
        "wait_minutes": policy.wait_seconds // 60,
        "who_may_apply": policy.who_may_apply,
        "roll_back_automatically": policy.roll_back_automatically,
        "emergency_allowed": policy.emergency_allowed,
        "emergency_minutes": policy.emergency_seconds // 60,
    }
