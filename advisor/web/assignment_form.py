"""The forms in which somebody says who takes care of a recommendation, and what is to be said of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from advisor.recommendations import assignments
from advisor.recommendations.models import Assignment


class AssignmentForm(forms.Form):
    """Who, until when, and where else it is written down. ``people`` are those who may be chosen."""

    assignee = forms.ChoiceField(label=gettext_lazy("Assigned to"), required=False)
    due_on = forms.DateField(
        label=gettext_lazy("Due"), required=False, widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d")
    )
    ticket = forms.CharField(
        label=gettext_lazy("Ticket"),
        required=False,
        max_length=assignments.LONGEST_TICKET,
        widget=forms.TextInput(attrs={"inputmode": "url", "autocomplete": "off", "placeholder": "https://"}),
    )

    def __init__(self, data: Any = None, *, people: Sequence[User], present: Assignment | None) -> None:
        initial: dict[str, Any] = {}
        if present is not None:
            initial = {
                "assignee": str(present.assignee_id or ""),
                "due_on": present.due_on,
                "ticket": present.ticket,
            }
        super().__init__(data, initial=initial)
        self._people = {str(person.pk): person for person in people}
        self.fields["assignee"].choices = [  # type: ignore[attr-defined]
            ("", _("nobody")),
            *((number, person.get_username()) for number, person in self._people.items()),
        ]

    def person(self) -> User | None:
        """The chosen one, None for nobody. Only after ``is_valid``."""
        return self._people.get(self.cleaned_data["assignee"])


class CommentForm(forms.Form):
    """What somebody says of a recommendation."""

    text = forms.CharField(
        label=gettext_lazy("Comment"),
        max_length=assignments.LONGEST_COMMENT,
        widget=forms.Textarea(attrs={"rows": 2}),
        error_messages={"required": gettext_lazy("Write something first.")},
    )
