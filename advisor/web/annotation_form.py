"""The form in which somebody writes beside the charts what happened."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django import forms
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from advisor.journal.annotations import LONGEST_TAG, LONGEST_TEXT, MOST_TAGS

_WIDGET = {"type": "datetime-local", "step": "1"}


class NewAnnotation(forms.Form):
    """Times are in the reader's zone; none is now."""

    text = forms.CharField(
        label=gettext_lazy("What happened"),
        max_length=LONGEST_TEXT,
        widget=forms.TextInput(attrs={"autocomplete": "off", "placeholder": gettext_lazy("deploy v481")}),
    )
    at = forms.DateTimeField(
        label=gettext_lazy("When"),
        required=False,
        help_text=gettext_lazy("Empty is now."),
        widget=forms.DateTimeInput(attrs=_WIDGET),
    )
    ended_at = forms.DateTimeField(
        label=gettext_lazy("Until"), required=False, widget=forms.DateTimeInput(attrs=_WIDGET)
    )
    tags = forms.CharField(
        label=gettext_lazy("Tags"),
        required=False,
        max_length=500,
        help_text=gettext_lazy("Separated by commas; deploy makes it a deployment."),
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )

    def clean_at(self) -> Any:
        at = self.cleaned_data["at"]
        if at is not None and at > timezone.now() + timedelta(days=1):
            raise forms.ValidationError(_("This lies more than a day ahead."))
        return at

    def clean_tags(self) -> list[str]:
        tags = [tag for one in self.cleaned_data["tags"].split(",") if (tag := one.strip())]
        if len(tags) > MOST_TAGS or any(len(tag) > LONGEST_TAG for tag in tags):
            raise forms.ValidationError(
                _("At most %(most)s tags of %(longest)s characters each.") % {"most": MOST_TAGS, "longest": LONGEST_TAG}
            )
        return tags

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        at, ended_at = cleaned.get("at") or timezone.now(), cleaned.get("ended_at")
        if ended_at is not None and ended_at < at:
            self.add_error("ended_at", _("It cannot end before it begins."))
        return cleaned
